#include "data_gen/picture_camera.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace feedrate::data_gen {
namespace {

// Lines of values that are filtered together: an image of `channels` interleaved floats.
struct Raster {
  std::vector<float>& values;
  int width, height;
  std::size_t channels;
  std::size_t pitch() const { return static_cast<std::size_t>(width) * channels; }
  float* row(int y) const { return &values[static_cast<std::size_t>(y) * pitch()]; }
  float* at(int x, int y) const { return row(y) + static_cast<std::size_t>(x) * channels; }
};

struct Kernel {
  float middle, inner, outer;
};

// 5 taps with the variance sigma^2 = 2 inner + 8 outer; wide enough up to a sigma of 1.2.
Kernel kernel_of(float sigma) {
  const float variance = std::min(sigma * sigma, 1.4f);
  const float outer = 0.046f * variance * variance, inner = variance / 2 - 4 * outer;
  return {1 - 2 * (inner + outer), inner, outer};
}

void weigh(const float* const lines[5], const Kernel& kernel, std::size_t count, float* out) {
  const float *a = lines[0], *b = lines[1], *c = lines[2], *d = lines[3], *e = lines[4];
  for (std::size_t i = 0; i < count; ++i)
    out[i] = kernel.middle * c[i] + kernel.inner * (b[i] + d[i]) + kernel.outer * (a[i] + e[i]);
}

// The rim is repeated, here and downwards.
void blur_across(const Raster& raster, const Kernel& kernel) {
  const std::size_t step = raster.channels, count = raster.pitch();
  std::vector<float> padded(count + 4 * step);
  const float* p = padded.data();
  const float* const lines[5] = {p, p + step, p + 2 * step, p + 3 * step, p + 4 * step};
  for (int y = 0; y < raster.height; ++y) {
    float* row = raster.row(y);
    std::copy(row, row + count, &padded[2 * step]);
    for (std::size_t i = 0; i < 2 * step; ++i) {
      padded[i] = row[i % step];
      padded[count + 2 * step + i] = row[count - step + i % step];
    }
    weigh(lines, kernel, count, row);
  }
}

void blur_down(const Raster& raster, const Kernel& kernel) {
  const std::size_t count = raster.pitch();
  const std::vector<float> first(raster.row(0), raster.row(0) + count);
  std::vector<float> kept[3] = {first, first, first};  // this row and the two above, unfiltered
  for (int y = 0; y < raster.height; ++y) {
    float* row = raster.row(y);
    std::swap(kept[0], kept[1]);
    std::swap(kept[1], kept[2]);
    std::copy(row, row + count, kept[2].begin());
    const float* next = y + 1 < raster.height ? raster.row(y + 1) : kept[2].data();
    const float* last = y + 2 < raster.height ? raster.row(y + 2) : next;
    const float* const lines[5] = {kept[0].data(), kept[1].data(), kept[2].data(), next, last};
    weigh(lines, kernel, count, row);
  }
}

void blur(const Raster& raster, float sigma) {
  const Kernel kernel = kernel_of(sigma);
  blur_across(raster, kernel);
  blur_down(raster, kernel);
}

// The weighted value of `raster`, whose last channel is the weight, between its four nearest knots.
void interpolate(const Raster& raster, float u, float v, float* rgb) {
  const int i = static_cast<int>(u), j = static_cast<int>(v);
  const float fx = u - static_cast<float>(i), fy = v - static_cast<float>(j);
  const float *p = raster.at(i, j), *q = raster.at(i, j + 1);
  float sum[4];
  for (int c = 0; c < 4; ++c)
    sum[c] = (1 - fy) * ((1 - fx) * p[c] + fx * p[c + 4]) + fy * ((1 - fx) * q[c] + fx * q[c + 4]);
  for (int c = 0; c < 3; ++c) rgb[c] = sum[c] / std::max(sum[3], 1e-6f);
}

}  // namespace

void blur_lens(Canvas& canvas, float sigma) {
  blur({canvas.rgb, canvas.size.width, canvas.size.height, 3}, sigma);
}

void blur_far(Canvas& canvas, float sigma) {
  // On a coarse grid of what is far alone, so that nothing that is near bleeds into it; what is
  // near has a small weight, for cells that hold nothing else.
  const int cell = std::max(2, static_cast<int>(sigma));
  const Raster picture{canvas.rgb, canvas.size.width, canvas.size.height, 3};
  const int width = (picture.width + cell - 1) / cell + 1;
  const int height = (picture.height + cell - 1) / cell + 1;
  std::vector<float> sums(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  const Raster coarse{sums, width, height, 4};
  const std::uint8_t* far = canvas.far.data();
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const float weight = *far++ ? 1.0f : 1e-4f;
      const float* rgb = picture.at(x, y);
      float* sum = coarse.at(x / cell, y / cell);
      for (int c = 0; c < 3; ++c) sum[c] += weight * rgb[c];
      sum[3] += weight;
    }
  }
  blur(coarse, 1);
  const float step = 1.0f / static_cast<float>(cell);
  far = canvas.far.data();
  for (int y = 0; y < picture.height; ++y) {
    const float v = std::max(0.0f, (static_cast<float>(y) + 0.5f) * step - 0.5f);
    for (int x = 0; x < picture.width; ++x) {
      const float u = std::max(0.0f, (static_cast<float>(x) + 0.5f) * step - 0.5f);
      if (*far++) interpolate(coarse, u, v, picture.at(x, y));
    }
  }
}

std::vector<std::uint8_t> expose(const Canvas& canvas, float noise, Random& random) {
  // Bytes of one random word a pixel: four make the noise that all channels share, as demosaicing
  // leaves it, two each that of red and of blue against green. 148 and 104 are the standard
  // deviations of the sums of four and of two bytes.
  const float common_scale = noise / 148, own_scale = 0.4f * noise / 104;
  std::vector<std::uint8_t> pixels(canvas.rgb.size());
  for (std::size_t i = 0; i < canvas.rgb.size(); i += 3) {
    const std::uint64_t b = random.bits();
    const auto byte = [b](int n) { return static_cast<int>(b >> (8 * n) & 0xff); };
    const float common =
        common_scale * static_cast<float>(byte(0) + byte(1) + byte(2) + byte(3) - 510);
    const float own[3] = {own_scale * static_cast<float>(byte(4) + byte(5) - 255), 0,
                          own_scale * static_cast<float>(byte(6) + byte(7) - 255)};
    const float light = std::clamp(canvas.rgb[i + 1], 0.0f, 255.0f) / 255;
    const float strength = 0.6f + 0.8f * light;  // photons: the more light, the more noise
    for (std::size_t c = 0; c < 3; ++c) {
      const float value = canvas.rgb[i + c] + strength * (common + own[c]) + 0.5f;
      pixels[i + c] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
    }
  }
  return pixels;
}

}  // namespace feedrate::data_gen
