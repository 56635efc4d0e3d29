#include "data_gen/picture_texture.h"

#include <algorithm>
#include <cmath>

namespace feedrate::data_gen {
namespace {

constexpr std::size_t kCoarsest = 16;  // knots a side of the coarsest octave of a texture

// Doubles a periodic square, whose side is a power of two, in both directions, with the weights 1/4
// and 3/4 of a linear spline.
std::vector<float> doubled(const std::vector<float>& from, std::size_t side) {
  std::vector<float> wide(from.size() * 2), to(from.size() * 4);
  for (std::size_t y = 0; y < side; ++y) {
    const float* in = &from[y * side];
    float* out = &wide[y * side * 2];
    for (std::size_t x = 0; x < side; ++x) {
      out[2 * x] = 0.75f * in[x] + 0.25f * in[(x + side - 1) & (side - 1)];
      out[2 * x + 1] = 0.75f * in[x] + 0.25f * in[(x + 1) & (side - 1)];
    }
  }
  for (std::size_t y = 0; y < side; ++y) {
    const float* above = &wide[(y + side - 1) % side * side * 2];
    const float* here = &wide[y * side * 2];
    const float* below = &wide[(y + 1) % side * side * 2];
    float* out = &to[y * side * 4];
    for (std::size_t x = 0; x < side * 2; ++x) {
      out[x] = 0.75f * here[x] + 0.25f * above[x];
      out[x + side * 2] = 0.75f * here[x] + 0.25f * below[x];
    }
  }
  return to;
}

void normalise(std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double mean = sum / static_cast<double>(values.size());
  const double variance = squares / static_cast<double>(values.size()) - mean * mean;
  const double scale = 1 / std::sqrt(std::max(variance, 1e-12));
  for (float& v : values) v = static_cast<float>((v - mean) * scale);
}

}  // namespace

TextureTile make_texture(Random& random, float roughness) {
  std::vector<float> values(kCoarsest * kCoarsest, 0.0f);
  float amplitude = 1;
  for (std::size_t side = kCoarsest;; side *= 2) {
    for (float& v : values) v += amplitude * random.normal();
    if (side == TextureTile::kSide) break;
    values = doubled(values, side);
    amplitude *= roughness;
  }
  normalise(values);
  return {std::move(values)};
}

TextureTile make_streaks(const TextureTile& texture, int length, bool along_x) {
  constexpr std::uint32_t side = TextureTile::kSide;
  TextureTile streaks{std::vector<float>(texture.values.size())};
  for (std::uint32_t line = 0; line < side; ++line) {
    const auto value = [&](std::uint32_t i) {
      return along_x ? texture.at(i, line) : texture.at(line, i);
    };
    float sum = 0;
    for (int i = 0; i < length; ++i) sum += value(static_cast<std::uint32_t>(i));
    for (std::uint32_t i = 0; i < side; ++i) {
      streaks.values[along_x ? line * side + i : i * side + line] = sum;
      sum += value(i + static_cast<std::uint32_t>(length)) - value(i);
    }
  }
  normalise(streaks.values);
  return streaks;
}

SmoothField::SmoothField(Random& random) : values_((kSide + 1) * (kSide + 1), 0.0f) {
  float amplitude = 0.5f;
  for (int cell = kSide / 4; cell >= 1; cell /= 2, amplitude *= 0.5f) {
    const int knots = kSide / cell + 1;
    std::vector<float> coarse(static_cast<std::size_t>(knots * knots));
    for (float& v : coarse) v = amplitude * random.normal();
    for (int y = 0; y <= kSide; ++y) {
      for (int x = 0; x <= kSide; ++x) {
        const int i = std::min(x / cell, knots - 2), j = std::min(y / cell, knots - 2);
        const float fx = static_cast<float>(x - i * cell) / static_cast<float>(cell);
        const float fy = static_cast<float>(y - j * cell) / static_cast<float>(cell);
        const float* at = &coarse[static_cast<std::size_t>(j * knots + i)];
        values_[static_cast<std::size_t>(y * (kSide + 1) + x)] +=
            (1 - fy) * ((1 - fx) * at[0] + fx * at[1]) +
            fy * ((1 - fx) * at[knots] + fx * at[knots + 1]);
      }
    }
  }
}

SmoothField::Row SmoothField::row(float y) const {
  const int j = std::clamp(static_cast<int>(y * kSide), 0, kSide - 1);
  const float fraction = y * kSide - static_cast<float>(j);
  const float* above = &values_[static_cast<std::size_t>(j * (kSide + 1))];
  Row row;
  for (std::size_t i = 0; i <= kSide; ++i)
    row.values[i] = (1 - fraction) * above[i] + fraction * above[i + kSide + 1];
  return row;
}

}  // namespace feedrate::data_gen
