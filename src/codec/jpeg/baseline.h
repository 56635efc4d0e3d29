#pragma once
#include <array>
#include <cstdint>
#include <cstdio>

#include <jpeglib.h>

#include "codec/codec.h"
#include "codec/jpeg/scan.h"
#include "codec/scratch.h"

namespace feedrate::codec {

// a / b, rounded up.
inline int divided_up(int a, int b) { return (a + b - 1) / b; }

// Decodes a window of a baseline JPEG file of the kinds that photographs are: 8 bits, Huffman
// codes, one scan, gray or YCbCr at 4:4:4, 4:2:2 or 4:2:0. The pixels are libjpeg's, to the bit.
// Units above and beside the window are skipped, although their codes must be read; units below it
// are not read. Reused for every picture.
class BaselineJpeg {
 public:
  // `window` is one of the picture at 1/reduction (1, 2, 4 or 8) of its size, whose sides are
  // rounded up. `info` has read the header and stands before the first scan's data; it is not
  // changed. False if the file is of another kind or damaged: libjpeg then decodes it, or says what
  // is wrong with it.
  bool decode(const jpeg_decompress_struct& info, const Rect& window, int reduction = 1);

  // The pixels of the last window: packed rows.
  PixelView pixels() const;
  // Of its picture, from the first scan's data on.
  StrayBytes stray_bytes() const { return {stray_before_marker_, scan_.has_bytes_behind()}; }

 private:
  // A component's samples of the part that is decoded; sample (0, 0) is the first of its first
  // block.
  struct Plane {
    JpegComponentTables tables;
    int across = 1, down = 1;   // blocks in a unit (MCU)
    int block = 8;              // samples that a block gives, across and down
    int width = 0, height = 0;  // of the whole component, in samples
    std::ptrdiff_t stride = 0;
    std::uint8_t* samples = nullptr;
    Scratch memory;
    int last_dc = 0;
  };

  bool prepare(const jpeg_decompress_struct& info);
  bool choose_blocks(int reduction);
  void lay_out(const Rect& window);
  bool read_units();
  bool read_unit(JpegBits& bits, bool wanted, int unit_x, int unit_y);
  void pad_edges(Plane& plane);
  void make_row(int y, std::uint8_t* rgb);
  const std::uint8_t* chroma_row(const Plane& plane, int y, Scratch& wide);

  PixelSize size_;  // of the picture at 1/reduction of its size
  int widened_ = 1,
      heightened_ = 1;  // picture samples for each chroma sample, across and down
  int planes_in_use_ = 0, restart_interval_ = 0;
  int units_across_ = 0, units_down_ = 0;
  Rect window_;
  Rect units_;  // those that are decoded
  std::array<Plane, 3> planes_;
  JpegScan scan_;
  bool stray_before_marker_ = false;
  JpegBlock block_;
  std::array<Scratch, 2> wide_;  // a row of chroma, widened
  Scratch rgb_;
};

}  // namespace feedrate::codec
