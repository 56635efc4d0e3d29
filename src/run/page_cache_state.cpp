#include "run/page_cache_state.h"

#include "base/error.h"
#include "storage/page_cache.h"

namespace feedrate::run {

double page_cache_state(const plan::CellSettings& settings, const storage::DatasetVariant* dataset,
                        storage::OutstandingReads::Slot* slot) {
  return dataset && settings.cache == "none" ? storage::page_cache_share(*dataset, slot) : -1;
}

double prepare_page_cache(const plan::CellSettings& settings,
                          const storage::DatasetVariant* dataset,
                          storage::OutstandingReads::Slot* slot, std::stop_token stop) {
  if (!dataset || settings.cache != "none") return -1;
  if (settings.page_cache == "warm") storage::warm_page_cache(*dataset, stop, slot);
  if (settings.page_cache == "cold") storage::drop_from_page_cache(*dataset, stop, slot);
  if (stop.stop_requested()) return -1;
  const double share = page_cache_state(settings, dataset, slot);
  if (settings.page_cache == "cold" && share > 0.05) {
    throw Error(dataset->folder.string(), "stays in the page cache although it was asked to go",
                "put the dataset on a disk's file system (tmpfs cannot be dropped), or use "
                "--page-cache warm");
  }
  return share;
}

}  // namespace feedrate::run
