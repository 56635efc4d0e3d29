#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace feedrate::codec {

// Where the compressed pixels of a PNG file lie, and how its rows are made.
struct PngLayout {
  std::uint32_t width = 0, height = 0;  // as the header says, not checked
  int channels = 0;               // bytes a pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha
  bool has_bytes_behind = false;  // behind its last chunk
};

// Reads the chunks of a common PNG file: 8 bits a channel, no palette, not interlaced. `data` gets
// its IDAT chunks' contents; every chunk's checksum is compared. Nothing for any other file, and
// for damaged ones.
std::optional<PngLayout> read_png_chunks(std::span<const std::byte> file,
                                         std::vector<std::span<const std::uint8_t>>& data);

}  // namespace feedrate::codec
