#pragma once
#include <ATen/core/Tensor.h>

#include "codec/tensor.h"

namespace feedrate::train {

// Turns a batch as it lies in memory into the network's input, on whichever device it is.
class Normaliser {
 public:
  // For batches on `device`, into elements of `to` (float, half or bfloat16).
  Normaliser(c10::Device device, at::ScalarType to,
             codec::Normalisation by = codec::Normalisation::imagenet);

  // `nhwc`: (N, H, W, 3), contiguous; uint8 pixels, or normalised half or float. Returns a new
  // tensor, (N, 3, H, W) in channels_last, that shares nothing with `nhwc`. The values are those of
  // normalise() in codec/tensor.h: the same three operations in fp32, rounded once.
  at::Tensor operator()(const at::Tensor& nhwc) const;

  // space_to_depth() of the same, in one pass; an undefined tensor where there is no kernel for it.
  at::Tensor space_to_depth(const at::Tensor& nhwc) const;

 private:
  at::Tensor pixels(const at::Tensor& nhwc) const;
  const at::ScalarType to_;
  const at::Tensor full_, mean_, std_;  // 255, the channels' statistics: float, (1) and (3)
  const at::Tensor table_;              // on a GPU: (256, 3), what becomes of each value of a byte
};

}  // namespace feedrate::train
