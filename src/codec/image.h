#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace feedrate::codec {

struct PixelSize {
  int width = 0;
  int height = 0;
  bool operator==(const PixelSize&) const = default;
};

// "500x375", and back; "224" is 224x224. Sides 1 to 8192. Throws UsageError naming the text.
std::string to_string(PixelSize size);
PixelSize pixel_size_from(std::string_view text);

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

// A part of a picture, which has to lie within it; borrows the same pixels.
inline PixelView window_of(const PixelView& picture, const Rect& window) {
  return {picture.data + window.y * picture.stride + std::ptrdiff_t{3} * window.x, picture.stride,
          window.width, window.height};
}
// Packed rows.
inline PixelView packed_view(const std::uint8_t* pixels, PixelSize size) {
  return {pixels, std::ptrdiff_t{3} * size.width, size.width, size.height};
}

}  // namespace feedrate::codec
