#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace feedrate::train {

// Puts kernels in the place of a captured graph's memset nodes, see device/graph_memsets.h, before
// it is instantiated. Returns how many. Errors: c10::Error.
std::size_t memsets_to_kernels(cudaGraph_t graph);

}  // namespace feedrate::train
