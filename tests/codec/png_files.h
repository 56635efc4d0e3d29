#pragma once
#include <cstdint>

#include "pictures.h"

namespace feedrate::tests {

// A PNG of any colour type; `samples` are the raw rows, packed as the file format has them
// (16 bits big endian).
struct PngKind {
  int color_type = 2;  // 0 gray, 2 RGB, 3 palette, 4 gray + alpha, 6 RGB + alpha
  int depth = 8;
  bool interlaced = false;
};
int channels_of(const PngKind& kind);
std::size_t row_bytes_of(const PngKind& kind, int width);
// The palette of color_type 3: entry i.
void palette_entry(int i, std::uint8_t rgb[3]);

// Signature, header, palette where one belongs, the picture deflated without filters, end. Written
// by hand (stored blocks), so that it does not share a mistake with the library that reads it.
Bytes write_png(const Bytes& samples, codec::PixelSize size, const PngKind& kind);
// Only a signature, a header with a right checksum, and an empty end.
Bytes write_png_header(std::uint32_t width, std::uint32_t height);
// Appends length, type, data and checksum.
void append_chunk(Bytes& file, const char* type, const Bytes& data);

}  // namespace feedrate::tests
