#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace feedrate::codec {

// One Huffman table of a JPEG file (ITU-T T.81, annex C and F.2.2), as a lookup by the next bits
// that gives symbol and value in one go where both fit.
class JpegHuffman {
 public:
  static constexpr int kLook = 11;         // bits that the lookup sees
  static constexpr int kEndOfBlock = 128;  // run of the end-of-block symbol: beyond any position

  // What the next symbol says: skip `run` coefficients, then comes `value`; the code and the
  // value's bits took `length` bits. length 0: they do not fit into the lookup, see decode_long();
  // if the code alone fits, `value` is its length and `run` the symbol.
  struct Entry {
    std::uint8_t length;
    std::uint8_t run;
    std::int16_t value;
  };

  // Several symbols of a block at once: all that lie wholly within the lookup's bits. They take
  // `length` bits; length 0: no symbol fits. `step`: how many coefficients they advance, plus 128
  // if the last one ends the block. They belong to one block only if position + reach(step) is at
  // most 64.
  struct Stride {
    std::uint8_t length;
    std::uint8_t step;
  };
  static int reach(std::uint8_t step) { return step & 127; }

  // The same for the first two symbols alone. `place`: where their values belong, counted from the
  // position; kEndOfBlock: there is no value.
  struct Pair {
    std::uint8_t length;
    std::uint8_t step;
    std::array<std::uint8_t, 2> place;
    std::array<std::int16_t, 2> value;
  };

  // `counts[1..16]`: codes of each length, `symbols`: theirs, in order; `dc`: a symbol is a size
  // alone, without a run. False if these do not make a table. Does nothing if it already holds this
  // table.
  bool build(const std::uint8_t counts[17], const std::uint8_t symbols[256], bool dc);

  Entry look(std::uint64_t bits) const { return lookup_[bits >> (64 - kLook)]; }
  Stride stride(std::uint64_t bits) const { return strides_[bits >> (64 - kLook)]; }
  const Pair& pair(std::uint64_t bits) const { return pairs_[bits >> (64 - kLook)]; }

  // The symbol at the top of `bits` (at least 31 of them valid), for which look() gave `entry`
  // without a length; length 0: no code.
  Entry decode_long(Entry entry, std::uint64_t bits) const {
    return entry.value != 0 ? entry_of(entry.run, entry.value, bits) : search(bits);
  }

 private:
  struct Code {
    int symbol, length;  // length 17: there is no such code
  };
  Code code_at(std::uint64_t bits) const;
  Entry search(std::uint64_t bits) const;
  Entry entry_at(std::uint64_t look) const;
  // Walks from symbol to symbol, `most` of them at most.
  Stride walk(std::uint64_t look, int most, Pair& pair) const;
  // The entry of a symbol whose code has `length` bits, with its value taken from `bits`.
  Entry entry_of(int symbol, int length, std::uint64_t bits) const {
    const int run = dc_ ? 0 : symbol >> 4, size = symbol & 15;
    if (size == 0) {
      const bool end = !dc_ && run != 15;  // 15: sixteen zeros
      return {static_cast<std::uint8_t>(length), static_cast<std::uint8_t>(end ? kEndOfBlock : run),
              0};
    }
    const auto raw = static_cast<int>((bits << length) >> (64 - size));
    const int value = raw < 1 << (size - 1) ? raw - (1 << size) + 1 : raw;
    return {static_cast<std::uint8_t>(length + size), static_cast<std::uint8_t>(run),
            static_cast<std::int16_t>(value)};
  }

  std::array<Entry, 1 << kLook> lookup_{};
  std::array<Stride, 1 << kLook> strides_{};  // of an AC table, as the next
  std::array<Pair, 1 << kLook> pairs_{};
  std::array<std::uint32_t, 18> limit_{};  // of 16 bits: codes of at most this length are below it
  std::array<std::int32_t, 17> offset_{};  // of the first symbol of a length, less its first code
  std::array<std::uint8_t, 17> counts_{};
  std::array<std::uint8_t, 256> symbols_{};
  bool dc_ = false;
  bool built_ = false;
};

// Bits from bytes without stuffing, most significant first. It may look up to 16 bytes beyond what
// it has consumed; the caller ensures that they can be read.
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

}  // namespace feedrate::codec
