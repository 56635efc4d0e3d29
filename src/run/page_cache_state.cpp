#include "run/page_cache_state.h"

#include <algorithm>

#include "base/error.h"
#include "measure/memory.h"
#include "run/cell_memory.h"
#include "storage/io_engine.h"
#include "storage/page_cache.h"

namespace feedrate::run {
namespace {

// The rest is for what a run holds beyond its batches: libraries, the network, other programs.
constexpr double kUsableMemory = 0.8;

bool fits_into_memory(const plan::CellSettings& settings, const storage::DatasetVariant& dataset,
                      int ranks_here) {
  const double held = bytes_held(settings, dataset, ranks_here, /*ranks_are_apart=*/true);
  return static_cast<double>(dataset.total_bytes) + held <
         kUsableMemory * static_cast<double>(measure::memory_available());
}

std::string state_of(const plan::CellSettings& settings, bool fits) {
  if (storage::find_io_engine(settings.io).past_page_cache) return "bypassed";
  if (settings.page_cache != "auto") return settings.page_cache;
  return fits ? "warm" : "as-is";
}

}  // namespace

PageCache of_both(const PageCache& a, const PageCache& b) {
  if (a.state.empty() || b.state.empty()) return a.state.empty() ? b : a;
  return {.state = a.state == b.state ? a.state : "as-is",
          .fits = a.fits && b.fits,
          .before = std::min(a.before, b.before),
          .after = std::min(a.after, b.after)};
}

double page_cache_share(const plan::CellSettings& settings, const storage::DatasetVariant* dataset,
                        storage::OutstandingReads::Slot* slot) {
  return dataset && settings.cache == "none" ? storage::page_cache_share(*dataset, slot) : -1;
}

PageCache prepare_page_cache(const plan::CellSettings& settings,
                             const storage::DatasetVariant* dataset, int ranks_here,
                             storage::OutstandingReads::Slot* slot, std::stop_token stop) {
  if (!dataset || settings.cache != "none") return {};
  PageCache cache{.fits = fits_into_memory(settings, *dataset, ranks_here)};
  cache.state = state_of(settings, cache.fits);
  if (cache.state == "cold") storage::drop_from_page_cache(*dataset, stop, slot);
  cache.before = page_cache_share(settings, dataset, slot);
  // Files that all lie there already, as far as a sample tells, are not read again.
  if (cache.state == "warm" && cache.before < 1 && !stop.stop_requested()) {
    storage::warm_page_cache(*dataset, stop, slot);
    cache.before = page_cache_share(settings, dataset, slot);
  }
  if (stop.stop_requested()) return cache;
  if (cache.state == "cold" && cache.before > 0.05) {
    throw Error(dataset->folder.string(), "stays in the page cache although it was asked to go",
                "put the dataset on a disk's file system (tmpfs cannot be dropped), or use "
                "--page-cache warm");
  }
  return cache;
}

}  // namespace feedrate::run
