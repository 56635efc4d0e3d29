#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string_view>

#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::storage {

// Each of these tells `slot`, if there is one, what it waits for.

// Reads every stored file of the variant once, piece by piece, so that what fits lies in the page
// cache. What cannot be read is left to whoever needs it: the loaders know what `on-bad` says of
// it. Returns early once `stop` is asked for.
void warm_page_cache(const DatasetVariant& variant, std::stop_token stop = {},
                     OutstandingReads::Slot* slot = nullptr);

// Asks the kernel to drop every file of the variant from the page cache (posix_fadvise DONTNEED
// after fdatasync: needs no privilege, drops clean pages that nobody maps), and then each of
// `below`, files that the variant's file system lies in. Verify with page_cache_residency(): tmpfs,
// and some network file systems, keep them. Returns early once `stop` is asked for. A server's own
// cache is out of its reach. Files of `below` that this user may not open are left alone.
void drop_from_page_cache(const DatasetVariant& variant,
                          std::span<const std::filesystem::path> below = {},
                          std::stop_token stop = {}, OutstandingReads::Slot* slot = nullptr);

inline constexpr const char* kDropCaches = "/proc/sys/vm/drop_caches";

// Asks the kernel to drop the whole machine's clean caches, those of names and inodes too; only
// root may, and not in most containers. Returns whether it did, within `patience_s`: a kernel that
// has much to drop goes on without being waited for. Returns early once `stop` is asked for.
// `file`: another one for tests.
bool drop_all_caches(std::stop_token stop = {}, const std::filesystem::path& file = kDropCaches,
                     double patience_s = 30);

// What of some files lies in the page cache.
struct Residency {
  double share = -1;        // 0..1 of their bytes; -1: unknown
  std::uint64_t bytes = 0;  // that lie there
  std::size_t files = 0;    // that could be looked at
  std::string_view by;      // the call that told: "cachestat", or "mincore" where one file needed
                            // it; empty: none could be looked at
  std::int64_t unwritten_pages = -1;  // that storage has not got yet, and that stay until then; -1:
                                      // unknown (mincore)
};

// Of at most `most` files of the variant, spread evenly over it. To look at a file brings its inode
// into memory. Returns early once `stop` is asked for.
Residency page_cache_residency(const DatasetVariant& variant, std::size_t most,
                               std::stop_token stop = {}, OutstandingReads::Slot* slot = nullptr);
// Of other files; `slot` is told the variant's first.
Residency page_cache_residency(std::span<const std::filesystem::path> files,
                               const DatasetVariant& variant,
                               OutstandingReads::Slot* slot = nullptr);

}  // namespace feedrate::storage
