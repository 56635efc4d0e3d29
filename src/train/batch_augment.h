#pragma once
#include <ATen/core/Tensor.h>

#include <span>

#include "pipeline/augment.h"

namespace feedrate::train {

// Crops, resizes, flips and jitters a whole batch by tensor operations, the same on every device.
// The pixels are those that a host worker makes of each sample (Resizer's bilinear,
// jitter_colours), before they are rounded.
class BatchAugmenter {
 public:
  // For batches on `device`, to pictures of `output`; `jitter`: whether colours change at all.
  BatchAugmenter(c10::Device device, codec::PixelSize output, bool jitter);

  // `by`, one a sample, as the tensor that operator() takes: (N, 8) floats on the device. Does not
  // wait for it.
  at::Tensor parameters(std::span<const pipeline::Augmentation> by) const;

  // `nhwc`: (N, h, w, 3), uint8. Returns a new tensor, (N, H, W, 3), floats from 0 to 255, in the
  // order of memory of NHWC.
  at::Tensor operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const;

 private:
  at::Tensor places(const at::Tensor& first, const at::Tensor& length, const at::Tensor& steps,
                    std::int64_t stored) const;

  const c10::Device device_;
  const bool jitter_;
  const at::Tensor across_,
      down_;  // centres of the output's pixels, in parts of its width and height: (W), (H)
  const at::Tensor gray_;  // kGray: (3)
};

}  // namespace feedrate::train
