#pragma once
#include <stop_token>

#include "plan/settings.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::run {

// Share of a cell's dataset that lies in the page cache; -1 where it is unknown, or where the cell
// does not read files. `dataset` and `slot` may be null; a `slot` is told what is read.
double page_cache_state(const plan::CellSettings& settings, const storage::DatasetVariant* dataset,
                        storage::OutstandingReads::Slot* slot);

// Brings the page cache into the state that the cell asks for; returns page_cache_state(). Returns
// early, with -1, once `stop` is asked for. Throws an Error where files cannot be dropped.
double prepare_page_cache(const plan::CellSettings& settings,
                          const storage::DatasetVariant* dataset,
                          storage::OutstandingReads::Slot* slot, std::stop_token stop);

}  // namespace feedrate::run
