#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace feedrate::pipeline {

// An encoded slot: a picture's length, then its bytes.
inline constexpr std::size_t kEncodedSlotHeader = sizeof(std::uint64_t);

// Bytes of a slot that holds any file of up to `largest` bytes; a multiple of a cache line.
inline std::size_t encoded_slot_for(std::size_t largest) {
  return (kEncodedSlotHeader + largest + 63) / 64 * 64;
}

// Writes the length of a picture into its slot; returns where its bytes go.
inline std::span<std::byte> open_encoded_slot(std::byte* slot, std::size_t length) {
  const auto noted = static_cast<std::uint64_t>(length);
  std::memcpy(slot, &noted, sizeof noted);
  return {slot + kEncodedSlotHeader, length};
}

inline std::span<const std::byte> encoded_in_slot(const std::byte* slot) {
  std::uint64_t length = 0;
  std::memcpy(&length, slot, sizeof length);
  return {slot + kEncodedSlotHeader, static_cast<std::size_t>(length)};
}

}  // namespace feedrate::pipeline
