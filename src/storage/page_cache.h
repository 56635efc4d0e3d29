#pragma once
#include <stop_token>

#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::storage {

// Each of these tells `slot`, if there is one, what it waits for.

// Reads every file of the variant once, so that what fits lies in the page cache. One that cannot
// be read is left to whoever needs it. Returns early once `stop` is asked for.
void warm_page_cache(const DatasetVariant& variant, std::stop_token stop = {},
                     OutstandingReads::Slot* slot = nullptr);

// Asks the kernel to drop every file of the variant from the page cache (posix_fadvise DONTNEED
// after fdatasync: needs no privilege, drops clean pages that nobody maps). Verify with
// page_cache_share(): tmpfs, and some network file systems, keep them. Returns early once `stop` is
// asked for. A server's own cache is out of its reach.
void drop_from_page_cache(const DatasetVariant& variant, std::stop_token stop = {},
                          OutstandingReads::Slot* slot = nullptr);

// Share (0..1) of the variant's bytes that lie in the page cache (mincore), of at most 256 files
// spread evenly over it; -1 where that is unknown.
double page_cache_share(const DatasetVariant& variant, OutstandingReads::Slot* slot = nullptr);

}  // namespace feedrate::storage
