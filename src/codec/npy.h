#pragma once
#include "codec/plain.h"

namespace feedrate::codec {

// What the header of a .npy file claims, where it is of a uint8 array of shape (height, width, 3).
struct NpyClaim {
  std::int64_t width = 0, height = 0;  // may be beyond what is decoded
  std::size_t bytes = 0;               // of the header; pixels follow
  std::string_view problem{};          // why it is none, in words for an error; empty: it is one

  bool is_picture() const { return problem.empty() && is_size_allowed(width, height); }
};
// `start`: the file's first bytes, in which its header ends. Throws nothing.
NpyClaim read_npy_header(std::span<const std::byte> start);

struct NpyHeader {
  PixelSize size;
  std::size_t bytes = 0;  // of the header; pixels follow
};
// The same. Errors: an Error naming `name` where it is no picture.
NpyHeader parse_npy_header(std::span<const std::byte> start, std::string_view name);
// Appends the file that numpy.save() makes of the pixels.
void append_npy(const PixelView& pixels, std::vector<std::byte>& out);

}  // namespace feedrate::codec
