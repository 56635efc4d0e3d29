#pragma once
#include "experiment/cell.h"
#include "storage/dataset.h"

namespace feedrate {

// Bytes of host memory that a cell's ranks on this machine hold: slabs, decoders, the manifest, and the caches that it asks
// for; without caches only the manifest grows with the dataset. `ranks_are_apart`: each rank has caches of its own.
double bytes_held(const CellSettings& settings, const DatasetVariant& dataset, bool ranks_are_apart);

// Throws an Error where they are more than is available.
void check_memory(const CellSettings& settings, const DatasetVariant& dataset, bool ranks_are_apart);

// Batches of encoded pictures get room for the dataset's largest.
void make_room(CellSettings& settings, const DatasetVariant* dataset);

}  // namespace feedrate
