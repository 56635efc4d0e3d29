#pragma once
#include <string>
#include <utility>
#include <vector>

#include "codec/checks.h"

namespace feedrate::codec {

// Where the pixels of an uncompressed file lie: packed rows, top row first.
struct PlainPixels {
  PixelSize size;
  const std::byte* first = nullptr;
};
// Checks the header and that the file holds exactly the pixels that it announces.
using PlainParser = PlainPixels (*)(std::span<const std::byte> file, std::string_view name);

// The number of bytes of `size` packed RGB pixels.
inline std::size_t packed_bytes(PixelSize size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
}

// Writes the pixels to `out`, rows packed.
void copy_packed(const PixelView& pixels, std::uint8_t* out);

// A window's pixels, rows packed, in `into`, which grows where it is too small.
PixelView copy_window(const PlainPixels& picture, const Rect& window,
                      std::vector<std::uint8_t>& into);

// Decoder of uncompressed RGB files: a header of `parse`, then pixels.
std::unique_ptr<Decoder> make_plain_decoder(PlainParser parse);

// Appends the pixels, rows packed.
void append_packed(const PixelView& pixels, std::vector<std::byte>& out);

// Errors: names the sizes when the payload is not exactly `expected` bytes.
void check_payload(std::size_t payload, std::size_t expected, std::string_view name);

}  // namespace feedrate::codec
