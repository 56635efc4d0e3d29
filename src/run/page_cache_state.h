#pragma once
#include <cstdint>
#include <stop_token>
#include <string>

#include "plan/settings.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::run {

// How the page cache was looked at before the window.
struct CacheLook {
  std::string by;                     // "cachestat" or "mincore"; empty: no file could be looked at
  std::int64_t files = 0, of = 0;     // so many of so many
  std::int64_t unwritten_pages = -1;  // see storage::Residency
};

// A cell's files and the kernel's page cache.
struct PageCache {
  // What the cell's `page-cache` stands for: "as-is", "warm" or "cold"; "bypassed" where it reads
  // past the cache. Empty: it reads no files.
  std::string state;
  bool fits = false;               // the files into memory, beside what the cell's ranks hold
  double before = -1, after = -1;  // the window: share of the files' bytes, see storage::Residency
  CacheLook look;
  // How the files were dropped: "drop_caches", which is "fadvise" and then all caches of the
  // machine; "fadvise"; "bypassed" where they need not be. Empty: they were not.
  std::string method;
  // "host": nothing but this machine's kernel and its drives keeps the files. "client": a server or
  // a program gives them, and may keep them in a cache that this machine knows nothing of.
  std::string scope;
  std::string file_system;  // its type
  // Loop devices under the files that read through the page cache themselves, "loop0, loop1"; and
  // how much of the files they stand for lies in it: bytes, as a share of the dataset's. Looked at
  // for "cold" and "bypassed" alone.
  std::string loops;
  double loops_before = -1, loops_after = -1;  // -1: unknown
  std::uint64_t memory_bytes = 0;              // that can hold files: see measure::memory_size()

  // What is read is to come from storage.
  bool past_memory() const { return state == "cold" || state == "bypassed"; }
};

// Of files that two machines read: "as-is" where "auto" was not the same on both, the smaller
// shares, and unknown where one is; of loop devices the larger. `a` or `b` may be empty: it then is
// the other.
PageCache merge_page_caches(const PageCache& a, const PageCache& b);

// Brings the page cache into the state that the cell asks for. "auto" is "warm" where the files fit
// beside what the `ranks_here` (on this machine) hold, else "as-is": what a cache holds of files
// that do not fit, nobody can say beforehand. `dataset` and `slot` may be null; a `slot` is told
// what is read. Returns early once `stop` is asked for. Throws an Error where files cannot be
// dropped.
PageCache prepare_page_cache(const plan::CellSettings& settings,
                             const storage::DatasetVariant* dataset, int ranks_here,
                             storage::OutstandingReads::Slot* slot, std::stop_token stop);

// Looks again, after the window, at what prepare_page_cache() looked at.
void look_after_window(PageCache& cache, const storage::DatasetVariant* dataset,
                       storage::OutstandingReads::Slot* slot, std::stop_token stop);

}  // namespace feedrate::run
