#pragma once
#include <string>

#include "device/registry.h"
#include "plan/settings.h"
#include "run/cell_ranks.h"
#include "run/datasets.h"
#include "run/run_options.h"
#include "storage/outstanding_reads.h"

namespace feedrate::run {

// The part of check_cell() that needs no dataset, which may take long to list: the device, and the
// number of ranks. Throws an Error.
void check_device(const plan::CellSettings& settings, const RunOptions& options,
                  device::AcceleratorRegistry& registry, const CellRanks& ranks);

// Everything of a cell that can be refused before anything is measured: its device, the number of
// ranks, the dataset, the loader, memory. Throws an Error naming the thing and the remedy, or an
// UnreadableDataset, also for what probe_cell_data() throws. Returns the bytes of host memory that
// the cell will hold on this machine; 0 for synthetic ones.
double check_cell(const plan::Cell& cell, const plan::CellSettings& settings,
                  const RunOptions& options, device::AcceleratorRegistry& registry,
                  CellRanks& ranks, Datasets& datasets);

// Whether the dataset can be read in the cell's way: opens its files; reads the first sample where
// reads_first_sample(). Throws an Error. `slot` is told that this goes on; may be null.
void check_reading(const plan::CellSettings& settings, const storage::DatasetVariant& dataset,
                   storage::OutstandingReads::Slot* slot);
// Not every file system takes O_DIRECT, which only a read tells. A sample that is bad for itself is
// --on-bad's business.
bool reads_first_sample(const plan::CellSettings& settings);
// What decides, beside the variant, whether check_reading() finds fault; see
// Datasets::note_unreadable().
std::string way_of_reading(const plan::CellSettings& settings);

}  // namespace feedrate::run
