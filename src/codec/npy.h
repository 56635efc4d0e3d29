#pragma once
#include "codec/plain.h"

namespace feedrate::codec {

// What the header of a .npy file says of a picture: a uint8 array of shape (height, width, 3).
struct NpyHeader {
  PixelSize size;
  std::size_t bytes = 0;  // of the header; pixels follow
};
// `start`: the file's first bytes. Errors: an Error naming `name` for a header that does not end
// within them, is none, or is of another array.
NpyHeader parse_npy_header(std::span<const std::byte> start, std::string_view name);
// Appends the file that numpy.save() makes of the pixels.
void append_npy(const PixelView& pixels, std::vector<std::byte>& out);

}  // namespace feedrate::codec
