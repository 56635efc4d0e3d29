#include "pipeline/mask_colour.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/random.h"
#include "codec/avx2.h"

namespace feedrate::pipeline {
namespace {

constexpr int kBits = 64;  // pixels of a word

// For eight bits of a mask, eight bytes: 0 where the bit is set, 255 where the pixel stays.
constexpr std::array<std::uint64_t, 256> kKept = [] {
  std::array<std::uint64_t, 256> kept{};
  for (unsigned bits = 0; bits < 256; ++bits) {
    for (unsigned i = 0; i < 8; ++i) {
      if ((bits >> i & 1) == 0) kept[bits] |= std::uint64_t{0xff} << (8 * i);
    }
  }
  return kept;
}();
static_assert(std::endian::native == std::endian::little, "the first bit is the first byte");

void spread(std::uint64_t bits, std::uint8_t* kept) {
  for (int i = 0; i < kBits; i += 8)
    std::memcpy(kept + i, &kKept[bits >> i & 0xff], sizeof(std::uint64_t));
}

// Every processor makes the same bits: the order of the sums is fixed, and CMakeLists.txt forbids
// to contract them.
inline std::uint8_t coloured(int channel, float red, float green, float blue) {
  const float (&by)[3] = kToYcc[channel];
  const float value =
      by[0] * red + by[1] * green + by[2] * blue + (kYccOffsets[channel] + 0.5f);  // rounds below
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(value), 0, 255));
}

[[gnu::always_inline]] inline void colour(const std::uint8_t* in, const std::uint8_t* kept,
                                          int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const auto red = static_cast<float>(in[3 * i] & kept[i]);
    const auto green = static_cast<float>(in[3 * i + 1] & kept[i]);
    const auto blue = static_cast<float>(in[3 * i + 2] & kept[i]);
    for (int c = 0; c < 3; ++c) out[3 * i + c] = coloured(c, red, green, blue);
  }
}

// A word's pixels at a time: a loop of a fixed length is the one that compilers make wide.
[[gnu::always_inline]] inline void colour_row(const std::uint8_t* in, const std::uint64_t* mask,
                                              int width, std::uint8_t* out) {
  std::uint8_t kept[kBits];
  int x = 0;
  for (; x + kBits <= width; x += kBits) {
    spread(*mask++, kept);
    colour(in + 3 * x, kept, kBits, out + 3 * x);
  }
  if (x == width) return;
  spread(*mask, kept);
  colour(in + 3 * x, kept, width - x, out + 3 * x);
}

void colour_row_plain(const std::uint8_t* in, const std::uint64_t* mask, int width,
                      std::uint8_t* out) {
  colour_row(in, mask, width, out);
}

#ifdef FEEDRATE_AVX2
FEEDRATE_AVX2 void colour_row_avx2(const std::uint8_t* in, const std::uint64_t* mask, int width,
                                   std::uint8_t* out) {
  colour_row(in, mask, width, out);
}
#endif

void colour_row_any(const std::uint8_t* in, const std::uint64_t* mask, int width,
                    std::uint8_t* out) {
  FEEDRATE_WITH_AVX2(return colour_row_avx2(in, mask, width, out));
  colour_row_plain(in, mask, width, out);
}

// The bits of a row's last word that are pixels.
std::uint64_t last_bits(int width) {
  return ~std::uint64_t{0} >> (kBits - 1 - (width - 1) % kBits);
}

// A row's bits and those beside them; `words` words. A bit at a word's end spreads into the next.
void dilate_across(const std::uint64_t* row, std::size_t words, std::uint64_t* out) {
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t before = i > 0 ? row[i - 1] >> (kBits - 1) : 0;
    const std::uint64_t after = i + 1 < words ? row[i + 1] << (kBits - 1) : 0;
    out[i] = row[i] | row[i] << 1 | before | row[i] >> 1 | after;
  }
}

void add_row(const std::uint64_t* row, std::size_t words, std::uint64_t* out) {
  for (std::size_t i = 0; i < words; ++i) out[i] |= row[i];
}

}  // namespace

void draw_mask(codec::PixelSize size, std::uint64_t seed, std::uint64_t* mask) {
  const std::size_t words = mask_words(size.width);
  for (std::size_t n = 0; n < mask_words(size); ++n)
    mask[n] = mix64(seed + 2 * n) & mix64(seed + 2 * n + 1);
  for (std::size_t last = words - 1; last < mask_words(size); last += words)
    mask[last] &= last_bits(size.width);
}

void dilate(codec::PixelSize size, const std::uint64_t* mask, std::uint64_t* out) {
  const std::size_t words = mask_words(size.width);
  for (int y = 0; y < size.height; ++y, mask += words, out += words) {
    dilate_across(mask, words, out);
    if (y > 0) add_row(mask - words, words, out);
    if (y + 1 < size.height) add_row(mask + words, words, out);
    out[words - 1] &= last_bits(size.width);
  }
}

void mask_and_colour(const codec::PixelView& picture, const std::uint64_t* mask,
                     std::uint8_t* out) {
  const std::size_t words = mask_words(picture.width);
  const std::size_t row = 3 * static_cast<std::size_t>(picture.width);
  for (int y = 0; y < picture.height; ++y, mask += words, out += row)
    colour_row_any(picture.data + y * picture.stride, mask, picture.width, out);
}

void MaskColourer::apply(const codec::PixelView& picture, std::uint64_t seed, std::uint8_t* out) {
  const codec::PixelSize size{picture.width, picture.height};
  drawn_.resize(mask_words(size)), dilated_.resize(mask_words(size));
  draw_mask(size, seed, drawn_.data());
  dilate(size, drawn_.data(), dilated_.data());
  mask_and_colour(picture, dilated_.data(), out);
}

}  // namespace feedrate::pipeline
