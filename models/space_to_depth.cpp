#include "models/space_to_depth.h"

#include <ATen/Functions.h>

namespace feedrate::models {

using at::Tensor;

namespace {

// (N, 3, 2 H, 2 W) to (N, 16, H, W), in channels_last: each pixel of a block becomes three
// channels.
Tensor in_blocks(const Tensor& t) {
  const std::int64_t down = t.size(2) / 2, across = t.size(3) / 2;
  const Tensor channels = t.permute({0, 2, 3, 1})
                              .reshape({t.size(0), down, 2, across, 2, 3})
                              .permute({0, 1, 3, 2, 4, 5})
                              .reshape({t.size(0), down, across, 12});
  return at::constant_pad_nd(channels, {0, kBlockChannels - 12}).permute({0, 3, 1, 2});
}

}  // namespace

Tensor space_to_depth(const Tensor& images) {
  const auto behind = [&](int dimension) {
    return 2 * blocks_along(images.size(dimension)) - kBlockMargin - images.size(dimension);
  };
  return in_blocks(at::constant_pad_nd(images, {kBlockMargin, behind(3), kBlockMargin, behind(2)}));
}

// The seven taps begin three pixels in front of an output's, blocks four.
Tensor convolve_blocks(const Tensor& blocks, const Tensor& weight) {
  return at::conv2d(blocks, in_blocks(at::constant_pad_nd(weight, {1, 0, 1, 0})));
}

}  // namespace feedrate::models
