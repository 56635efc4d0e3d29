#pragma once
#include <stop_token>
#include <string>

#include "plan/settings.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::run {

// A cell's files and the kernel's page cache.
struct PageCache {
  // What the cell's `page-cache` stands for: "as-is", "warm" or "cold"; "bypassed" where it reads
  // past the cache. Empty: it reads no files.
  std::string state;
  bool fits = false;               // the files into memory, beside what the cell's ranks hold
  double before = -1, after = -1;  // the window: page_cache_share()
};

// Of files that two machines read: "as-is" where "auto" was not the same on both, the smaller
// shares, and unknown where one is. `a` or `b` may be empty: it then is the other.
PageCache of_both(const PageCache& a, const PageCache& b);

// Share of a cell's dataset that lies in the page cache; -1 where it is unknown, or where the cell
// does not read files. `dataset` and `slot` may be null; a `slot` is told what is read.
double page_cache_share(const plan::CellSettings& settings, const storage::DatasetVariant* dataset,
                        storage::OutstandingReads::Slot* slot);

// Brings the page cache into the state that the cell asks for. "auto" is "warm" where the files fit
// beside what the `ranks_here` (on this machine) hold, else "as-is": what a cache holds of files
// that do not fit, nobody can say beforehand. Returns early once `stop` is asked for. Throws an
// Error where files cannot be dropped.
PageCache prepare_page_cache(const plan::CellSettings& settings,
                             const storage::DatasetVariant* dataset, int ranks_here,
                             storage::OutstandingReads::Slot* slot, std::stop_token stop);

}  // namespace feedrate::run
