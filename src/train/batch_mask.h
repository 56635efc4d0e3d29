#pragma once
#include <ATen/core/Tensor.h>

#include <span>

#include "device/accelerator.h"
#include "pipeline/augment.h"

namespace feedrate::train {

// `--augment mask-color` of a whole batch by tensor operations, the same on every device: crops it
// and masks and colours it, in the order that is asked for. The bytes are those that a host worker
// makes of each sample (mask_colour.h).
class BatchMask {
 public:
  // For batches on `device`, as `by` says.
  BatchMask(c10::Device device, const device::DeviceAugmentation& by);

  // `by`, one a sample, as the tensor that operator() takes: (N, 3) integers on the device. Does
  // not wait for it.
  at::Tensor parameters(std::span<const pipeline::Augmentation> by) const;

  // `nhwc`: (N, h, w, 3), uint8. Returns a new tensor, (N, H, W, 3), uint8, contiguous.
  at::Tensor operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const;

 private:
  at::Tensor cropped(const at::Tensor& nhwc, const at::Tensor& parameters) const;
  at::Tensor masks(const at::Tensor& seeds, std::int64_t height, std::int64_t width) const;
  at::Tensor masked_and_coloured(const at::Tensor& nhwc, const at::Tensor& parameters) const;

  const c10::Device device_;
  const bool crop_last_;
  const at::Tensor across_, down_;  // 0, 1 ... of the output's columns and rows: (W), (H)
  const at::Tensor bits_;           // 0 to 7: (8)
};

}  // namespace feedrate::train
