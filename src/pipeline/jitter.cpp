#include "pipeline/jitter.h"

#include <algorithm>

#include "pipeline/gray.h"

namespace feedrate::pipeline {
namespace {

float cut(float value) { return std::min(std::max(value, 0.0f), 255.0f); }

// What brightness makes of each of a byte's values.
struct Brightened {
  explicit Brightened(float factor) {
    for (int v = 0; v < 256; ++v) of[v] = cut(factor * static_cast<float>(v));
  }
  float of[256];
};

float gray(const float (&rgb)[3]) {
  return kGray[0] * rgb[0] + kGray[1] * rgb[1] + kGray[2] * rgb[2];
}

}  // namespace

void jitter_colours(std::uint8_t* pixels, std::size_t count, const ColourJitter& by) {
  if (by == ColourJitter{} || count == 0) return;
  const Brightened bright(by.brightness);
  // The mean of gray is the gray of the means; values of a byte are counted exactly in integers.
  std::uint32_t histogram[3][256] = {};
  for (std::size_t i = 0; i < count; ++i) {
    for (int c = 0; c < 3; ++c) ++histogram[c][pixels[3 * i + c]];
  }
  double mean = 0;
  for (int c = 0; c < 3; ++c) {
    for (int v = 0; v < 256; ++v)
      mean += static_cast<double>(kGray[c]) * bright.of[v] * histogram[c][v];
  }
  const float towards = (1 - by.contrast) * static_cast<float>(mean / static_cast<double>(count));
  float contrasted[256];
  for (int v = 0; v < 256; ++v) contrasted[v] = cut(by.contrast * bright.of[v] + towards);

  for (std::uint8_t* p = pixels; p != pixels + 3 * count; p += 3) {
    const float rgb[3] = {contrasted[p[0]], contrasted[p[1]], contrasted[p[2]]};
    const float pale = (1 - by.saturation) * gray(rgb);
    for (int c = 0; c < 3; ++c)
      p[c] = static_cast<std::uint8_t>(cut(by.saturation * rgb[c] + pale) + 0.5f);
  }
}

}  // namespace feedrate::pipeline
