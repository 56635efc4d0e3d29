#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/image.h"

struct inflate_state;

namespace feedrate {

// Decodes a window of a common PNG file (8 bits a channel, no palette, not interlaced): inflates by ISA-L
// no further than the window's last row, and undoes the filters no further than its last column. What is
// behind is not looked at, its checksum neither; the chunks' own checksums are compared. Reused for
// every picture.
class CommonPng {
 public:
  CommonPng();
  ~CommonPng();

  // False if the file is of another kind or damaged: libspng is to decode it, or to say what is wrong.
  bool decode(std::span<const std::byte> file, const Rect& window);

  // The RGB pixels of the last window.
  PixelView pixels() const { return view_; }

 private:
  // Fills `bytes` of rows_. `whole`: the stream must end there, with the right checksum.
  bool inflate(std::size_t bytes, bool whole);
  // Gray or alpha: the window's pixels as RGB into rgb_.
  void to_rgb(const Rect& window, int channels, std::ptrdiff_t stride);

  std::unique_ptr<inflate_state> state_;
  std::vector<std::span<const std::uint8_t>> data_;
  std::vector<std::uint8_t> rows_;  // each with its filter byte
  std::vector<std::uint8_t> rgb_;
  PixelView view_;
};

}  // namespace feedrate
