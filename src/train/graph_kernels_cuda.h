#pragma once
#include <cuda_runtime_api.h>

#include <string>

namespace feedrate::train {

// A hash over the names of a graph's kernels, in no order, as 16 hex digits: two steps with the
// same one are made of the same kernels. Empty where the driver does not tell.
std::string kernels_xxh3(cudaGraph_t graph);

}  // namespace feedrate::train
