#pragma once
#include <ATen/core/Tensor.h>

namespace feedrate::train {

// What is to be made of a batch of pictures.
struct AugmentBatch {
  at::Tensor pictures;        // (N, h, w, 3), uint8, contiguous
  at::Tensor drawn;           // (N, 8), float: a Drawn (augment_blocks.h) each
  int height = 0, width = 0;  // of the output
  bool antialias = false, jitter = false;
};

// (N, height, width, 3), uint8, queued on the current stream. Error in a build without CUDA.
at::Tensor augment_on_cuda(const AugmentBatch& batch);

}  // namespace feedrate::train
