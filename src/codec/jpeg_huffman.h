#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace feedrate {

// One Huffman table of a JPEG file (ITU-T T.81, annex C and F.2.2), as a lookup by the next bits that
// gives symbol and value in one go where both fit.
class JpegHuffman {
 public:
  static constexpr int kLook = 11;          // bits that the lookup sees
  static constexpr int kEndOfBlock = 128;   // run of the end-of-block symbol: beyond any position

  // What the next symbol says: skip `run` coefficients, then comes `value`; the code and the value's bits
  // took `length` bits. length 0: not in the lookup, see decode_long().
  struct Entry {
    std::uint8_t length;
    std::uint8_t run;
    std::int16_t value;
  };

  // `counts[1..16]`: codes of each length, `symbols`: theirs, in order; `dc`: a symbol is a size and no
  // run. False if that is no table. Does nothing if it is the table that it holds already.
  bool build(const std::uint8_t counts[17], const std::uint8_t symbols[256], bool dc);

  Entry look(std::uint64_t bits) const { return lookup_[bits >> (64 - kLook)]; }

  // The symbol at the top of `bits` (at least 31 of them valid), whatever its length; length 0: no code.
  Entry decode_long(std::uint64_t bits) const;

 private:
  // The entry of a symbol whose code has `length` bits, with its value taken from `bits`.
  Entry entry_of(int symbol, int length, std::uint64_t bits) const;

  std::array<Entry, 1 << kLook> lookup_{};
  std::array<std::uint32_t, 18> limit_{};  // of 16 bits: codes of at most this length are below it
  std::array<std::int32_t, 17> offset_{};  // of the first symbol of a length, less its first code
  std::array<std::uint8_t, 17> counts_{};
  std::array<std::uint8_t, 256> symbols_{};
  bool dc_ = false;
  bool built_ = false;
};

// Bits from bytes that hold no stuffing any more, most significant first. May look up to 16 bytes beyond
// what it has consumed; the caller sees to it that they can be read.
class JpegBits {
 public:
  explicit JpegBits(const std::uint8_t* at) : next_(at) {}

  // Afterwards at least 56 bits are valid.
  void refill() {
    std::uint64_t more;
    std::memcpy(&more, next_, sizeof more);
    if constexpr (std::endian::native == std::endian::little) more = __builtin_bswap64(more);
    bits_ |= more >> valid_;
    next_ += (63 - valid_) >> 3;
    valid_ |= 56;
  }
  std::uint64_t top() const { return bits_; }
  int valid() const { return valid_; }
  void consume(int count) {
    bits_ <<= count;
    valid_ -= count;
  }
  // The first byte of which no bit has been consumed.
  const std::uint8_t* position() const { return next_ - valid_ / 8; }

 private:
  const std::uint8_t* next_;
  std::uint64_t bits_ = 0;  // the valid ones at the top; below them what a refill will bring again
  int valid_ = 0;
};

}  // namespace feedrate
