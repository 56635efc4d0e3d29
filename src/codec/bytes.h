#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedrate::codec {

// Little-endian integers at any alignment, byte by byte, so that they read the same on every
// machine.
template <std::unsigned_integral Int>
Int load_le(const std::byte* from) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) {
    value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  }
  return static_cast<Int>(value);
}

// A big-endian integer of four bytes, as PNG has them.
inline std::uint32_t load_be32(const std::byte* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(from[i]);
  return value;
}

template <std::unsigned_integral Int>
void store_le(std::byte* to, Int value) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) {
    to[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

}  // namespace feedrate::codec
