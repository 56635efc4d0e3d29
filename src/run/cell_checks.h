#pragma once
#include "device/registry.h"
#include "plan/settings.h"
#include "run/cell_ranks.h"
#include "run/datasets.h"
#include "run/run_options.h"

namespace feedrate::run {

// Everything of a cell that can be refused before anything is measured: its device, the number of
// ranks, the dataset, the loader, memory. Throws an Error naming the thing and the remedy. Returns
// the bytes of host memory that the cell will hold on this machine; 0 for synthetic ones.
double check_cell(const plan::CellSettings& settings, const RunOptions& options,
                  device::AcceleratorRegistry& registry, const CellRanks& ranks,
                  Datasets& datasets);

}  // namespace feedrate::run
