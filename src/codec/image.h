#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate {

struct PixelSize {
  int width = 0;
  int height = 0;
  bool operator==(const PixelSize&) const = default;
};

// A rectangle in pixels, inside the picture that it is taken from.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Rect&) const = default;
};

// Borrowed RGB pixels, 8 bits a channel, interleaved; row y starts at data + y * stride (bytes).
struct PixelView {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;
  int width = 0;
  int height = 0;
};

}  // namespace feedrate
