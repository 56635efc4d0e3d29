#pragma once
#include <algorithm>
#include <cstdint>

namespace feedrate::codec {

// What the inverse DCTs of libjpeg have in common: 13 fractional bits of their factors, two that
// are kept between columns and rows, three for the factor 8 of the two-dimensional transform.
inline constexpr int kDctColumnShift = 13 - 2, kDctRowShift = 13 + 2 + 3;

inline std::uint8_t dct_sample(int value) {
  return static_cast<std::uint8_t>(std::clamp(value + 128, 0, 255));
}

}  // namespace feedrate::codec
