#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "codec/codec.h"

namespace feedrate::tests {

using Bytes = std::vector<std::byte>;
using Pixels = std::vector<std::uint8_t>;

struct TestPicture {
  codec::PixelSize size;
  Pixels pixels;
  codec::PixelView view() const { return {pixels.data(), size.width * 3, size.width, size.height}; }
};

// Smooth with some noise, so that JPEG keeps it near and every row differs from the one above.
inline TestPicture make_picture(int width, int height, unsigned seed = 1) {
  std::minstd_rand random(seed);
  TestPicture picture{{width, height}, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        picture.pixels.push_back(static_cast<std::uint8_t>(
            x * (3 + c) + y * (7 - c) * static_cast<int>(seed) + random() % 24));
      }
    }
  }
  return picture;
}

inline Pixels packed(const codec::PixelView& view) {
  Pixels pixels;
  for (int y = 0; y < view.height; ++y) {
    const std::uint8_t* row = view.data + y * view.stride;
    pixels.insert(pixels.end(), row, row + view.width * 3);
  }
  return pixels;
}

inline Pixels cropped(const TestPicture& picture, const codec::Rect& window) {
  codec::PixelView view = picture.view();
  view.data += window.y * view.stride + window.x * 3;
  view.width = window.width;
  view.height = window.height;
  return packed(view);
}

inline codec::Rect whole(codec::PixelSize size) { return {0, 0, size.width, size.height}; }

// A copy of its own length on the heap, so that AddressSanitizer sees a read beyond its end.
inline Pixels decode(codec::Decoder& decoder, const Bytes& file, const codec::Rect& window) {
  decoder.open(file, "test file");
  return packed(decoder.decode(window, 1).pixels);
}

inline TestPicture decode_whole(codec::Decoder& decoder, const Bytes& file) {
  TestPicture picture;
  picture.size = decoder.open(file, "test file");
  picture.pixels = packed(decoder.decode(whole(picture.size), 1).pixels);
  return picture;
}

inline Bytes encode(const codec::Format& format, const TestPicture& picture,
                    codec::EncodeOptions options = {}) {
  Bytes file;
  format.encode(picture.view(), options, file);
  return file;
}

inline Bytes encode(const char* format, const TestPicture& picture,
                    codec::EncodeOptions options = {}) {
  return encode(*codec::find_picture_format(format), picture, options);
}

// Windows at the edges, in the middle, of one pixel, and some at random.
inline std::vector<codec::Rect> windows_of(codec::PixelSize size, int random_ones) {
  const int w = size.width, h = size.height;
  std::vector<codec::Rect> windows = {whole(size),          {0, 0, 1, 1},
                                      {w - 1, h - 1, 1, 1}, {0, h - 1, w, 1},
                                      {w - 1, 0, 1, h},     {w / 3, h / 3, w - w / 3, h / 2}};
  std::minstd_rand random(7);
  for (int i = 0; i < random_ones; ++i) {
    const int x = static_cast<int>(random() % w), y = static_cast<int>(random() % h);
    windows.push_back(
        {x, y, 1 + static_cast<int>(random() % (w - x)), 1 + static_cast<int>(random() % (h - y))});
  }
  std::erase_if(windows, [](const codec::Rect& r) { return r.width < 1 || r.height < 1; });
  return windows;
}

// The message of the Error that `action` throws; "" if it throws none.
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace feedrate::tests
