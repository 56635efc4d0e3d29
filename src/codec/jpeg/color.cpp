#include "codec/jpeg/color.h"

// Chroma upsampling and colour conversion: jdsample.c's triangle filters and jdcolor.c's integers.
#include <algorithm>

#include "codec/avx2.h"

namespace feedrate::codec {
namespace {

// libjpeg's 16-bit fixed point: 1.402, 1.772, 0.71414 and 0.34414.
constexpr int kRed = 91881, kBlue = 116130, kGreenRed = 46802, kGreenBlue = 22554, kHalf = 1 << 15;

std::uint8_t clamped(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

void ycc_to_rgb_plain(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                      int width, std::uint8_t* rgb) {
  for (int i = 0; i < width; ++i, rgb += 3) {
    const int light = y[i], blue = cb[i] - 128, red = cr[i] - 128;
    rgb[0] = clamped(light + ((kRed * red + kHalf) >> 16));
    rgb[1] = clamped(light + ((-kGreenBlue * blue - kGreenRed * red + kHalf) >> 16));
    rgb[2] = clamped(light + ((kBlue * blue + kHalf) >> 16));
  }
}

// The two filters.
void widen_plain(const std::uint8_t* near, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int here = 3 * near[i];
    out[2 * i] = static_cast<std::uint8_t>((here + near[i - 1] + 1) >> 2);
    out[2 * i + 1] = static_cast<std::uint8_t>((here + near[i + 1] + 2) >> 2);
  }
}
void widen_blended_plain(const std::uint8_t* near, const std::uint8_t* far, int count,
                         std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int here = 3 * (3 * near[i] + far[i]);
    out[2 * i] = static_cast<std::uint8_t>((here + 3 * near[i - 1] + far[i - 1] + 8) >> 4);
    out[2 * i + 1] = static_cast<std::uint8_t>((here + 3 * near[i + 1] + far[i + 1] + 7) >> 4);
  }
}

#ifdef FEEDRATE_AVX2
// 16 samples as 16-bit numbers.
FEEDRATE_AVX2_INLINE inline __m256i load16(const std::uint8_t* at) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
// 16 numbers cut to 0..255.
FEEDRATE_AVX2_INLINE inline __m128i bytes(__m256i v) {
  return _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
// Lanes 2i of `even` and `odd` side by side, 32 bytes.
FEEDRATE_AVX2_INLINE inline void store_interleaved(__m256i even, __m256i odd, std::uint8_t* out) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                      _mm256_or_si256(even, _mm256_slli_epi16(odd, 8)));
}

FEEDRATE_AVX2 void widen_avx2(const std::uint8_t* near, int count, std::uint8_t* out) {
  for (int i = 0; i < count; i += 16) {
    const __m256i here = load16(near + i),
                  three = _mm256_add_epi16(here, _mm256_slli_epi16(here, 1));
    const __m256i even =
        _mm256_add_epi16(_mm256_add_epi16(three, load16(near + i - 1)), _mm256_set1_epi16(1));
    const __m256i odd =
        _mm256_add_epi16(_mm256_add_epi16(three, load16(near + i + 1)), _mm256_set1_epi16(2));
    store_interleaved(_mm256_srli_epi16(even, 2), _mm256_srli_epi16(odd, 2), out + 2 * i);
  }
}

FEEDRATE_AVX2_INLINE inline __m256i blend(const std::uint8_t* near, const std::uint8_t* far) {
  const __m256i n = load16(near);
  return _mm256_add_epi16(_mm256_add_epi16(n, _mm256_slli_epi16(n, 1)), load16(far));
}
FEEDRATE_AVX2 void widen_blended_avx2(const std::uint8_t* near, const std::uint8_t* far, int count,
                                      std::uint8_t* out) {
  for (int i = 0; i < count; i += 16) {
    const __m256i here = blend(near + i, far + i),
                  three = _mm256_add_epi16(here, _mm256_slli_epi16(here, 1));
    const __m256i before = blend(near + i - 1, far + i - 1),
                  after = blend(near + i + 1, far + i + 1);
    const __m256i even = _mm256_add_epi16(_mm256_add_epi16(three, before), _mm256_set1_epi16(8));
    const __m256i odd = _mm256_add_epi16(_mm256_add_epi16(three, after), _mm256_set1_epi16(7));
    store_interleaved(_mm256_srli_epi16(even, 4), _mm256_srli_epi16(odd, 4), out + 2 * i);
  }
}

// 16 pixels of three planes to 48 bytes.
FEEDRATE_AVX2_INLINE inline void store_rgb(__m128i r, __m128i g, __m128i b, std::uint8_t* out) {
  // Byte k of the output is channel k % 3 of pixel k / 3; -1 leaves a byte zero.
  alignas(16) static constexpr std::int8_t kSpread[3][3][16] = {
      {{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
       {-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
       {-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1}},
      {{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
       {5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
       {-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1}},
      {{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
       {-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
       {10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15}}};
#pragma GCC unroll 3
  for (int part = 0; part < 3; ++part) {
    const auto spread = [&](__m128i v, int channel) FEEDRATE_AVX2_INLINE {
      return _mm_shuffle_epi8(
          v, _mm_load_si128(reinterpret_cast<const __m128i*>(kSpread[part][channel])));
    };
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * part),
                     _mm_or_si128(_mm_or_si128(spread(r, 0), spread(g, 1)), spread(b, 2)));
  }
}

// x * factor / 65536 rounded, for |x| < 2^14: the high half of a product is cut, so that one more
// bit is kept and rounded after.
FEEDRATE_AVX2_INLINE inline __m256i scaled(__m256i x, int factor) {
  const __m256i high =
      _mm256_mulhi_epi16(_mm256_add_epi16(x, x), _mm256_set1_epi16(static_cast<short>(factor)));
  return _mm256_srai_epi16(_mm256_add_epi16(high, _mm256_set1_epi16(1)), 1);
}
// The whole parts of the two factors are added apart, so that the rest fits into 16 bits.
FEEDRATE_AVX2_INLINE inline __m256i green_of(__m256i blue, __m256i red) {
  const __m256i factors = _mm256_set1_epi32((65536 - kGreenRed) << 16 | (-kGreenBlue & 0xffff));
  const __m256i half = _mm256_set1_epi32(kHalf);
  const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(blue, red), factors);
  const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(blue, red), factors);
  const __m256i both = _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, half), 16),
                                          _mm256_srai_epi32(_mm256_add_epi32(high, half), 16));
  return _mm256_sub_epi16(both, red);
}

FEEDRATE_AVX2 void ycc_to_rgb_avx2(const std::uint8_t* y, const std::uint8_t* cb,
                                   const std::uint8_t* cr, int width, std::uint8_t* rgb) {
  const __m256i middle = _mm256_set1_epi16(128);
  for (int i = 0; i < width; i += 16) {
    const __m256i light = load16(y + i);
    const __m256i blue = _mm256_sub_epi16(load16(cb + i), middle),
                  red = _mm256_sub_epi16(load16(cr + i), middle);
    const __m256i r = _mm256_add_epi16(_mm256_add_epi16(light, red), scaled(red, kRed - 65536));
    const __m256i g = _mm256_add_epi16(light, green_of(blue, red));
    const __m256i b = _mm256_add_epi16(_mm256_add_epi16(light, _mm256_add_epi16(blue, blue)),
                                       scaled(blue, kBlue - 2 * 65536));
    store_rgb(bytes(r), bytes(g), bytes(b), rgb + 3 * i);
  }
}
#endif

}  // namespace

void jpeg_widen(const std::uint8_t* near, int count, std::uint8_t* out) {
  FEEDRATE_WITH_AVX2(return widen_avx2(near, count, out));
  widen_plain(near, count, out);
}

void jpeg_widen_blended(const std::uint8_t* near, const std::uint8_t* far, int count,
                        std::uint8_t* out) {
  FEEDRATE_WITH_AVX2(return widen_blended_avx2(near, far, count, out));
  widen_blended_plain(near, far, count, out);
}

void jpeg_ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                     int width, std::uint8_t* rgb) {
  FEEDRATE_WITH_AVX2(return ycc_to_rgb_avx2(y, cb, cr, width, rgb));
  ycc_to_rgb_plain(y, cb, cr, width, rgb);
}

}  // namespace feedrate::codec
