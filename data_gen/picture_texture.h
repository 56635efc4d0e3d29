#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "data_gen/picture_random.h"

namespace feedrate::data_gen {

// Noise of mean 0 and variance 1 that repeats every `kSide` pixels in both directions.
struct TextureTile {
  static constexpr std::uint32_t kSide = 256;  // a power of two
  std::vector<float> values;                   // kSide * kSide
  float at(std::uint32_t x, std::uint32_t y) const {
    return values[(y % kSide) * kSide + x % kSide];
  }
};

// A sum of octaves, each `roughness` (0: coarse ones rule, 1: all are equal) times the coarser one.
TextureTile make_texture(Random& random, float roughness);

// Averages a texture over `length` pixels along x or along y: hair, grass, grain of wood.
TextureTile make_streaks(const TextureTile& texture, int length, bool along_x);

// Smooth noise over the unit square, for what varies slowly across a picture; within about +-1.
class SmoothField {
 public:
  static constexpr int kSide = 32;
  struct Row {
    std::array<float, kSide + 1> values;
    float at(float x) const {  // x in [0, 1), interpolated linearly
      const auto i = static_cast<std::size_t>(x * kSide);
      const float fraction = x * kSide - static_cast<float>(i);
      return (1 - fraction) * values[i] + fraction * values[i + 1];
    }
  };

  explicit SmoothField(Random& random);
  Row row(float y) const;  // y in [0, 1]

 private:
  std::vector<float> values_;  // (kSide + 1)^2
};

}  // namespace feedrate::data_gen
