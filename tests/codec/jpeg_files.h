#pragma once
#include <optional>

#include "pictures.h"

namespace feedrate::tests {

// JPEG files that the program's own encoder does not write, and a decoder of the plainest kind: all
// rows by jpeglib.h with its defaults.
struct JpegKind {
  int channels = 3;  // 1 gray, 3 YCbCr, 4 CMYK (Adobe, inverted)
  bool ycck = false;
  bool progressive = false;
  bool arithmetic = false;
  int horizontal = 2, vertical = 2;  // luma samples to a chroma sample
  int restart_rows = 0;
};
// `channels` interleaved values a pixel.
Bytes write_jpeg(const Pixels& values, codec::PixelSize size, const JpegKind& kind);
// As libjpeg gives it: RGB, or CMYK for four channels.
Pixels reference_decode(const Bytes& file, bool cmyk, int reduction = 1);
// The same of a file that may be damaged, to RGB; nothing where libjpeg so much as warns.
std::optional<Pixels> try_reference_decode(const Bytes& file);
// Gray and progressive, in about 630 scans.
Bytes write_many_scans(codec::PixelSize size);
// Overwrites the size in the frame header.
void patch_jpeg_size(Bytes& file, int width, int height);

}  // namespace feedrate::tests
