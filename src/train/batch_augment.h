#pragma once
#include <ATen/core/Tensor.h>

#include <span>

#include "device/accelerator.h"
#include "pipeline/augment.h"

namespace feedrate::train {

// Crops, resizes, flips and jitters a whole batch. On a CPU by the code that workers use (Resizer's
// bilinear and antialias, jitter_colours); on a GPU by kernels, whose bytes may differ from these
// by one level, and with jitter by what its factors make of that: a worker's resize counts in
// fixed-point numbers.
class BatchAugmenter {
 public:
  // For batches on `device`, as `by` says.
  BatchAugmenter(c10::Device device, const device::DeviceAugmentation& by);

  // `by`, one a sample, as the tensor that operator() takes: (N, 8) floats on the device. Does not
  // wait for it.
  at::Tensor parameters(std::span<const pipeline::Augmentation> by) const;

  // `nhwc`: (N, h, w, 3), uint8. Returns a new tensor, (N, H, W, 3), uint8.
  at::Tensor operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const;

 private:
  at::Tensor by_workers_code(const at::Tensor& nhwc, const at::Tensor& parameters) const;

  const c10::Device device_;
  const device::DeviceAugmentation by_;
};

}  // namespace feedrate::train
