#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/image.h"

// What `--augment mask-color` does to pixels, after the article "A Caching Strategy for Identifying
// Bottlenecks on the Data Input Pipeline": a random mask, then a colour matrix. The work is meant
// to be noticed. A device makes the same bits of the same seed (train/batch_mask.h).
namespace feedrate::pipeline {

// Red, green and blue to luma and two differences of colour (ITU-R BT.601, full range, as in JPEG):
// a row for each of the three, and what is added to it.
inline constexpr float kToYcc[3][3] = {
    {0.299f, 0.587f, 0.114f}, {-0.168736f, -0.331264f, 0.5f}, {0.5f, -0.418688f, -0.081312f}};
inline constexpr float kYccOffsets[3] = {0, 128, 128};

// A mask has a bit for each pixel, row by row: pixel x of a row is bit x % 64 of its word x / 64.
// Each row has whole words. The bits beyond its last pixel are 0: nothing spreads from there.
constexpr std::size_t mask_words(int width) { return (static_cast<std::size_t>(width) + 63) / 64; }
constexpr std::size_t mask_words(codec::PixelSize size) {
  return mask_words(size.width) * static_cast<std::size_t>(size.height);
}

// Sets a quarter of the bits of `mask` (mask_words(size) of them), each by itself: word n is
// mix64(seed + 2 n) & mix64(seed + 2 n + 1).
void draw_mask(codec::PixelSize size, std::uint64_t seed, std::uint64_t* mask);

// What is set in `mask`, and the pixels left, right, above and below it: in a drawn mask,
// 1 - (3/4)^5 = 76 % of the pixels that have four neighbours. `out` is another mask.
void dilate(codec::PixelSize size, const std::uint64_t* mask, std::uint64_t* out);

// Pixels whose bit is set become black first, and then (0, 128, 128) as every black pixel. In fp32,
// rounded to the nearest, cut to 0..255. Writes packed pixels to `out`.
void mask_and_colour(const codec::PixelView& picture, const std::uint64_t* mask, std::uint8_t* out);

// The three, one after the other. One per worker: it keeps the masks' memory.
class MaskColourer {
 public:
  void apply(const codec::PixelView& picture, std::uint64_t seed, std::uint8_t* out);

 private:
  std::vector<std::uint64_t> drawn_, dilated_;
};

}  // namespace feedrate::pipeline
