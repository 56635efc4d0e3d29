#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/jpeg/huffman.h"
#include "codec/scratch.h"

namespace feedrate::codec {

// The entropy-coded bytes of a scan without stuffing and restart markers. Reused for every picture.
class JpegScan {
 public:
  // Takes the bytes behind a scan's header. False unless they reach the end of the image with all
  // restart markers in order: the file is damaged, or has more scans.
  bool gather(std::span<const std::uint8_t> bytes);
  // Whether bytes followed the end of the image.
  bool has_bytes_behind() const { return has_bytes_behind_; }

  // Between restart markers; each can be decoded on its own.
  std::size_t segments() const { return starts_.size() - 1; }
  const std::uint8_t* begin(std::size_t segment) const { return bytes_.data() + starts_[segment]; }
  const std::uint8_t* end(std::size_t segment) const {
    return bytes_.data() + starts_[segment + 1];
  }

 private:
  Scratch bytes_;                    // and spare bytes for a reader that runs on in damaged data
  std::vector<std::size_t> starts_;  // of the segments, and the end of the last
  bool has_bytes_behind_ = false;
};

// Where the k-th coefficient in zigzag order lies in a block, row by row (T.81, figure A.6). Beyond
// 63: one position for runs that are too long; nobody reads it.
inline constexpr auto kJpegPlaces = [] {
  std::array<std::uint8_t, 64 + JpegHuffman::kEndOfBlock + 1> places{};
  int x = 0, y = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    places[k] = static_cast<std::uint8_t>(k < 64 ? 8 * y + x : 64);
    const bool up = (x + y) % 2 == 0;
    if (up ? x == 7 : y == 7) {
      ++(up ? y : x);
    } else if (up ? y == 0 : x == 0) {
      ++(up ? x : y);
    } else {
      x += up ? 1 : -1;
      y -= up ? 1 : -1;
    }
  }
  return places;
}();

// What one component's blocks are decoded with.
struct JpegComponentTables {
  JpegHuffman dc, ac;
  std::array<std::uint16_t, 64> quantisation{};  // in zigzag order
};

// One block's coefficients, dequantised, row by row. The elements beyond [63] catch runs that are
// too long.
struct alignas(32) JpegBlock {
  std::array<std::int16_t, 80> at{};
};

// Reads the next block. kStore: into `block`, whose coefficients must be zero; else it is only
// passed over. Returns the number of coefficients up to the last in zigzag order, 0 if the data is
// damaged.
template <bool kStore>
int read_jpeg_block(JpegBits& bits, const JpegComponentTables& tables, int& last_dc,
                    JpegBlock& block);

}  // namespace feedrate::codec
