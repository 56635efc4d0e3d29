#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

// ResNet's first convolution, 7x7 with stride 2 over 3 channels, as one of 4x4 with stride 1 over
// blocks of 2x2 pixels: the same sums with zeros among them, in a shape for which there are fast
// kernels (the "space-to-depth" of MLPerf's ResNet-50). Who makes the normalised pictures makes
// blocks of them.
namespace feedrate::models {

// Channels of a block: those of its four pixels, row by row, and four zeros, which make up whole
// packs of 16 bytes.
inline constexpr std::int64_t kBlockChannels = 16;
// Pixels of zeros that stand in front of a picture's rows and columns.
inline constexpr std::int64_t kBlockMargin = 4;
// Blocks along a side of so many pixels: those that the convolution reads.
constexpr std::int64_t blocks_along(std::int64_t pixels) { return (pixels + 1) / 2 + 3; }

// (N, 3, H, W) to (N, 16, blocks_along(H), blocks_along(W)), in channels_last.
at::Tensor space_to_depth(const at::Tensor& images);
inline bool is_space_to_depth(const at::Tensor& images) { return images.size(1) == kBlockChannels; }

// The first convolution over space_to_depth(images), by its weight, (64, 3, 7, 7), in which it is
// differentiable.
at::Tensor convolve_blocks(const at::Tensor& blocks, const at::Tensor& weight);

}  // namespace feedrate::models
