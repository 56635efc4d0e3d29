#pragma once
#include <ATen/core/Tensor.h>

namespace feedrate::train {

// Pixels on a GPU, (N, H, W, 3) uint8, by the table [256][3], in the table's type: one pass, queued
// on the current stream. Error in a build without CUDA.
at::Tensor normalise_on_cuda(const at::Tensor& bytes, const at::Tensor& table);

// The same as models::space_to_depth() of it, (N, blocks, blocks, 16).
at::Tensor normalise_space_to_depth_on_cuda(const at::Tensor& bytes, const at::Tensor& table);

}  // namespace feedrate::train
