#pragma once
#include <bit>
#include <cstdint>

namespace feedrate::codec {

// The bits of the IEEE 754 half nearest to `value`, ties to even; overflow becomes infinity, a NaN
// stays a (quiet) NaN. The same bits as the F16C instruction vcvtps2ph, without asking for it.
constexpr std::uint16_t half_from(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  }
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65536, inf
  std::uint32_t kept, rest, halfway;  // the half's bits; what is cut off them; half of their unit
  if (magnitude >= 0x38800000u) {     // normal halves, from 2^-14
    kept = (magnitude - 0x38000000u) >> 13;
    rest = magnitude & 0x1fffu;
    halfway = 0x1000u;
  } else {  // subnormal halves: units of 2^-24
    const std::uint32_t exponent = magnitude >> 23;
    if (exponent < 102) return sign;  // below 2^-25: nearer to zero
    const std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126 - exponent;
    kept = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    halfway = 1u << (shift - 1);
  }
  if (rest > halfway || (rest == halfway && (kept & 1u) != 0)) ++kept;  // may carry up to infinity
  return static_cast<std::uint16_t>(sign | kept);
}

}  // namespace feedrate::codec
