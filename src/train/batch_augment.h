#pragma once
#include <ATen/core/Tensor.h>

#include <span>

#include "device/accelerator.h"
#include "pipeline/augment.h"

namespace feedrate::train {

// Crops, resizes, flips and jitters a whole batch by tensor operations, the same on every device.
// The pixels are those that a host worker makes of each sample (Resizer's bilinear and antialias,
// jitter_colours), before they are rounded.
class BatchAugmenter {
 public:
  // For batches on `device`, as `by` says.
  BatchAugmenter(c10::Device device, const device::DeviceAugmentation& by);

  // `by`, one a sample, as the tensor that operator() takes: (N, 8) floats on the device. Does not
  // wait for it.
  at::Tensor parameters(std::span<const pipeline::Augmentation> by) const;

  // `nhwc`: (N, h, w, 3), uint8. Returns a new tensor, (N, H, W, 3), floats from 0 to 255, in the
  // order of memory of NHWC.
  at::Tensor operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const;

 private:
  at::Tensor resized(const at::Tensor& nhwc, const at::Tensor& parameters) const;
  at::Tensor jittered(at::Tensor pixels, const at::Tensor& parameters) const;

  const c10::Device device_;
  const bool antialias_, jitter_;
  const at::Tensor across_,
      down_;  // centres of the output's pixels, in parts of its width and height: (W), (H)
  const at::Tensor gray_;  // kGray: (3)
};

}  // namespace feedrate::train
