#pragma once
#include "plan/settings.h"
#include "storage/dataset.h"

namespace feedrate::run {

// Bytes of host memory that a cell's ranks on this machine hold: slabs, decoders, the manifest and
// the caches that it asks for; without caches only the manifest grows with the dataset. Of
// decoded pictures of many sizes it is a low estimate.
// `gpus_here`: ranks on this machine. `ranks_are_apart`: each rank has caches of its own.
double bytes_held(const plan::CellSettings& settings, const storage::DatasetVariant& dataset,
                  int gpus_here, bool ranks_are_apart);

// Returns bytes_held(). Throws an Error where they are more than is available.
double check_memory(const plan::CellSettings& settings, const storage::DatasetVariant& dataset,
                    int gpus_here, bool ranks_are_apart);

}  // namespace feedrate::run
