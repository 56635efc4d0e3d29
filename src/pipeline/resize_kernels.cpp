#include "pipeline/resize_kernels.h"

#include <algorithm>
#include <cstring>

#include "codec/avx2.h"

namespace feedrate::pipeline {
namespace {

constexpr int kWeightBits = 15, kShift = kResizeBits + kWeightBits;

void blend_rows_plain(const std::uint8_t* rows, std::ptrdiff_t stride, const std::int16_t* weights,
                      int taps, int count, std::int16_t* out) {
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int t = 0; t < taps; ++t) {
      sum += ((rows[t * stride + i] << kResizeBits) * weights[t] + (1 << (kWeightBits - 1))) >>
             kWeightBits;
    }
    out[i] = static_cast<std::int16_t>(sum);
  }
}

void gather_pixels_plain(const std::int16_t* row, const int* first, const std::int16_t* weights,
                         int each, int width, std::uint8_t* out) {
  for (int i = 0; i < width; ++i, weights += each, out += 3) {
    const std::int16_t* from = row + 3 * first[i];
    for (int c = 0; c < 3; ++c) {
      int sum = 1 << (kShift - 1);
      for (int t = 0; t < each; ++t) sum += from[3 * t + c] * weights[t];
      out[c] = static_cast<std::uint8_t>(std::clamp(sum >> kShift, 0, 255));
    }
  }
}

#ifdef FEEDRATE_AVX2

FEEDRATE_AVX2_INLINE inline __m256i weighted(const std::uint8_t* at, std::int16_t weight) {
  const __m256i samples =
      _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  return _mm256_mulhrs_epi16(_mm256_slli_epi16(samples, kResizeBits), _mm256_set1_epi16(weight));
}

// 16 samples at once. If the count is no multiple of 16, the last 16 overlap the 16 before them.
template <bool kTwo>
FEEDRATE_AVX2 void blend_rows_avx2(const std::uint8_t* rows, std::ptrdiff_t stride,
                                   const std::int16_t* weights, int taps, int count,
                                   std::int16_t* out) {
  for (int i = 0;; i = std::min(i + 16, count - 16)) {
    __m256i sum =
        _mm256_add_epi16(weighted(rows + i, weights[0]), weighted(rows + stride + i, weights[1]));
    for (int t = 2; !kTwo && t < taps; ++t)
      sum = _mm256_add_epi16(sum, weighted(rows + t * stride + i, weights[t]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), sum);
    if (i + 16 >= count) return;
  }
}

// The sums of two output pixels, one in each half: red, green, blue, nothing.
template <bool kTwo>
FEEDRATE_AVX2_INLINE inline __m256i gather_two(const std::int16_t* row, const int* first,
                                               const std::int16_t* weights, int each) {
  // r g b R G B becomes rR gG bB.
  const __m256i pair_up = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1));
  const std::int16_t *low = row + 3 * first[0], *high = row + 3 * first[1];
  __m256i sum = _mm256_set1_epi32(1 << (kShift - 1));
  for (int t = 0; t < (kTwo ? 2 : each); t += 2, low += 6, high += 6) {
    const __m256i samples = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
    int weight[2];
    std::memcpy(&weight[0], weights + t, sizeof(int));
    std::memcpy(&weight[1], weights + (kTwo ? 2 : each) + t, sizeof(int));
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_set1_epi32(weight[0])),
                                                 _mm_set1_epi32(weight[1]), 1);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(samples, pair_up), both));
  }
  return _mm256_srai_epi32(sum, kShift);
}

// Four pixels at once. If the count is no multiple of four, the last four overlap the four before
// them.
template <bool kTwo>
FEEDRATE_AVX2 void gather_pixels_avx2(const std::int16_t* row, const int* first,
                                      const std::int16_t* weights, int each, int width,
                                      std::uint8_t* out) {
  // After the packing the halves hold pixels 0 2 and 1 3, four bytes each.
  const __m128i spread = _mm_setr_epi8(0, 1, 2, 8, 9, 10, 4, 5, 6, 12, 13, 14, -1, -1, -1, -1);
  for (int i = 0;; i = std::min(i + 4, width - 4)) {
    const __m256i early = gather_two<kTwo>(row, first + i, weights + i * each, each);
    const __m256i late = gather_two<kTwo>(row, first + i + 2, weights + (i + 2) * each, each);
    const __m256i both = _mm256_packs_epi32(early, late);
    const __m128i bytes =
        _mm_packus_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    const __m128i pixels = _mm_shuffle_epi8(bytes, spread);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 3 * i), pixels);
    const int last = _mm_extract_epi32(pixels, 2);
    std::memcpy(out + 3 * i + 8, &last, sizeof last);
    if (i + 4 >= width) return;
  }
}

#endif

}  // namespace

void blend_rows(const std::uint8_t* rows, std::ptrdiff_t stride, const std::int16_t* weights,
                int taps, int count, std::int16_t* out) {
  if (count >= 16 && taps >= 2) {
    FEEDRATE_WITH_AVX2(
        return (taps == 2 ? blend_rows_avx2<true> : blend_rows_avx2<false>)(rows, stride, weights,
                                                                            taps, count, out));
  }
  blend_rows_plain(rows, stride, weights, taps, count, out);
}

void gather_pixels(const std::int16_t* row, const int* first, const std::int16_t* weights, int each,
                   int width, std::uint8_t* out) {
  if (width >= 4) {
    FEEDRATE_WITH_AVX2(
        return (each == 2 ? gather_pixels_avx2<true>
                          : gather_pixels_avx2<false>)(row, first, weights, each, width, out));
  }
  gather_pixels_plain(row, first, weights, each, width, out);
}

}  // namespace feedrate::pipeline
