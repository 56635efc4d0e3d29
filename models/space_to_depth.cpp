#include "models/space_to_depth.h"

#include <ATen/Functions.h>

namespace feedrate::models {

using at::Tensor;

namespace {

// (N, 3, 2 H, 2 W) to (N, 12, H, W): each pixel of a block becomes three channels.
Tensor pixels_to_channels(const Tensor& t) {
  return t.view({t.size(0), 3, t.size(2) / 2, 2, t.size(3) / 2, 2})
      .permute({0, 3, 5, 1, 2, 4})
      .reshape({t.size(0), 12, t.size(2) / 2, t.size(3) / 2});
}

Tensor in_blocks(const Tensor& t) {
  return at::constant_pad_nd(pixels_to_channels(t), {0, 0, 0, 0, 0, kBlockChannels - 12})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace

Tensor space_to_depth(const Tensor& images) {
  const auto behind = [&](int dimension) {
    return 2 * blocks_along(images.size(dimension)) - kBlockMargin - images.size(dimension);
  };
  return in_blocks(
      at::constant_pad_nd(images.contiguous(), {kBlockMargin, behind(3), kBlockMargin, behind(2)}));
}

// The seven taps begin three pixels in front of an output's, blocks four.
Tensor convolve_blocks(const Tensor& blocks, const Tensor& weight) {
  return at::conv2d(blocks, in_blocks(at::constant_pad_nd(weight.contiguous(), {1, 0, 1, 0})));
}

}  // namespace feedrate::models
