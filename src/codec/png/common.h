#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "codec/codec.h"
#include "codec/png/chunks.h"
#include "codec/scratch.h"

struct inflate_state;

namespace feedrate::codec {

// Decodes a window of a common PNG file (8 bits a channel, no palette, not interlaced): inflates by
// ISA-L no further than the window's last row, and undoes the filters no further than its last
// column. The data behind that is not read, and the stream's checksum not compared; the chunks' own
// checksums are. Reused for every picture.
class CommonPng {
 public:
  CommonPng();
  ~CommonPng();

  // The size of the picture. Nothing if the file is of another kind or damaged: libspng then
  // decodes it, or says what is wrong. `file` must stay valid until decode().
  std::optional<PixelSize> open(std::span<const std::byte> file);

  // Decodes a window of the picture last opened; false if its compressed data is damaged.
  bool decode(const Rect& window);

  // The RGB pixels of the last window.
  PixelView pixels() const { return view_; }
  // Of the picture last opened.
  StrayBytes stray_bytes() const { return {.behind_end = layout_.has_bytes_behind}; }

 private:
  // Fills `bytes` of rows_. `whole`: the stream must end there, with the right checksum.
  bool inflate(std::size_t bytes, bool whole);
  // The chunks' contents in one piece.
  std::span<const std::uint8_t> compressed();
  // Gray or alpha: the window's pixels as RGB into rgb_.
  void to_rgb(const Rect& window, int channels, std::ptrdiff_t stride);

  std::unique_ptr<inflate_state> state_;
  std::vector<std::span<const std::uint8_t>> data_;
  PngLayout layout_;
  Scratch packed_;
  Scratch rows_;  // each with its filter byte
  Scratch rgb_;
  PixelView view_;
};

}  // namespace feedrate::codec
