#pragma once
#include <cuda_runtime_api.h>

#include <string>

namespace feedrate::train {

// A hash over the names of the kernels of cuDNN, cuBLAS and NCCL in a graph, in no order, as 16 hex
// digits: what those libraries choose for themselves. LibTorch's kernels and our own follow from
// the cell; those that normalise are in a streamed cell's step, and not in its ceiling's. Empty
// where the driver does not tell.
std::string kernels_xxh3(cudaGraph_t graph);

}  // namespace feedrate::train
