#pragma once
#include <cstdint>
#include <vector>

namespace feedrate::pipeline {

// Which source pixels make an output pixel along one direction, and with which weights.
struct ResizeTaps {
  static constexpr int kOne =
      1 << 15;  // a weight of 1; where one tap has it all, kOne - 1 rounds to the same

  int each = 0;            // taps of every output pixel: an even number, filled up with weight 0
  std::vector<int> first;  // source position of an output pixel's first tap
  std::vector<int> count;  // taps of an output pixel that lie in the picture, from the first
  std::vector<std::int16_t> weights;  // `each` per output pixel; they sum up to kOne

  // Resizes `extent` source pixels, from `begin` on, to `to` output pixels; there are `from` source
  // pixels. The filter is a triangle over the two nearest pixels or, with `antialias` and when
  // shrinking, one as wide as two output pixels. Positions are those of pixel centres, as in OpenCV
  // and Pillow. `flip`: the output pixels in reverse order.
  void prepare(int from, double begin, double extent, int to, bool antialias, bool flip);
};

}  // namespace feedrate::pipeline
