// The inverse DCT of jidctint.c. Between its roundings it is linear, so each output is a sum of products:
// the even part from inputs 0, 2, 4, 6, the odd part from 1, 3, 5, 7, with 13 fractional bits.
#include <algorithm>
#include <cstring>

#include "codec/avx2.h"
#include "codec/jpeg_kernels.h"

namespace feedrate {
namespace {

constexpr int kColumnShift = 13 - 2;   // after the columns two fractional bits are kept
constexpr int kRowShift = 13 + 2 + 3;  // 3: the factor 8 of the two-dimensional transform

// Factors of inputs 2 and 6, then of inputs 1, 3, 5, 7.
constexpr int kEvenSum[2] = {10703, 4433}, kEvenDifference[2] = {4433, -10704};
constexpr int kOdd[4][4] = {{11363, 9633, 6437, 2260},     // outputs 0 and 7
                            {9633, -2259, -11362, -6436},  // 1 and 6
                            {6437, -11362, 2261, 9633},    // 2 and 5
                            {2260, -6436, 9633, -11363}};  // 3 and 4

std::uint8_t to_sample(int value) { return static_cast<std::uint8_t>(std::clamp(value + 128, 0, 255)); }

// Eight inputs `step` apart to eight outputs, rounded by `shift`.
void transform(const std::int16_t* in, int step, int shift, int out[8]) {
  const auto at = [&](int i) { return static_cast<int>(in[i * step]); };
  const int round = 1 << (shift - 1);
  const int sum = (at(0) + at(4)) * 8192 + round, difference = (at(0) - at(4)) * 8192 + round;
  const int tilt = at(2) * kEvenSum[0] + at(6) * kEvenSum[1];
  const int bend = at(2) * kEvenDifference[0] + at(6) * kEvenDifference[1];
  const int even[4] = {sum + tilt, difference + bend, difference - bend, sum - tilt};
  for (int i = 0; i < 4; ++i) {
    int odd = 0;
    for (int k = 0; k < 4; ++k) odd += kOdd[i][k] * at(2 * k + 1);
    out[i] = (even[i] + odd) >> shift;
    out[7 - i] = (even[i] - odd) >> shift;
  }
}

void idct_plain(const std::int16_t* coefficients, std::uint8_t* out, std::ptrdiff_t stride) {
  std::int16_t columns[64];
  int line[8];
  for (int x = 0; x < 8; ++x) {
    transform(coefficients + x, 8, kColumnShift, line);
    for (int y = 0; y < 8; ++y) columns[8 * y + x] = static_cast<std::int16_t>(std::clamp(line[y], -32768, 32767));
  }
  for (int y = 0; y < 8; ++y) {
    transform(columns + 8 * y, 1, kRowShift, line);
    for (int x = 0; x < 8; ++x) out[y * stride + x] = to_sample(line[x]);
  }
}

// What both passes make of a first coefficient alone.
void flat(int first, std::uint8_t* out, std::ptrdiff_t stride) {
  const std::uint8_t sample = to_sample((4 * first + 16) >> 5);
  for (int y = 0; y < 8; ++y) std::memset(out + y * stride, sample, 8);
}

#ifdef FEEDRATE_AVX2
// Lanes 0 to 7 of a and b as pairs.
FEEDRATE_AVX2_INLINE inline __m256i pairs(__m128i a, __m128i b) {
  return _mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b));
}
FEEDRATE_AVX2_INLINE inline __m256i factors(int first, int second) {
  return _mm256_set1_epi32(static_cast<int>(static_cast<unsigned>(second) << 16 | (first & 0xffff)));
}
FEEDRATE_AVX2_INLINE inline __m128i narrow(__m256i v) {
  return _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

// Eight transforms at once, one a lane: v[i] holds input i, then output i. kHalf: inputs 4 to 7 are zero.
template <int kShift, bool kHalf>
FEEDRATE_AVX2_INLINE inline void transform8(__m128i v[8]) {
  const __m128i zero = _mm_setzero_si128();
  const __m256i v04 = pairs(v[0], kHalf ? zero : v[4]), v26 = pairs(v[2], kHalf ? zero : v[6]);
  const __m256i v13 = pairs(v[1], v[3]), v57 = pairs(v[5], v[7]);
  const __m256i round = _mm256_set1_epi32(1 << (kShift - 1));
  const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(v04, factors(8192, 8192)), round);
  const __m256i difference =
      kHalf ? sum : _mm256_add_epi32(_mm256_madd_epi16(v04, factors(8192, -8192)), round);
  const __m256i tilt = _mm256_madd_epi16(v26, factors(kEvenSum[0], kEvenSum[1]));
  const __m256i bend = _mm256_madd_epi16(v26, factors(kEvenDifference[0], kEvenDifference[1]));
  const __m256i even[4] = {_mm256_add_epi32(sum, tilt), _mm256_add_epi32(difference, bend),
                           _mm256_sub_epi32(difference, bend), _mm256_sub_epi32(sum, tilt)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    __m256i odd = _mm256_madd_epi16(v13, factors(kOdd[i][0], kOdd[i][1]));
    if (!kHalf) odd = _mm256_add_epi32(odd, _mm256_madd_epi16(v57, factors(kOdd[i][2], kOdd[i][3])));
    v[i] = narrow(_mm256_srai_epi32(_mm256_add_epi32(even[i], odd), kShift));
    v[7 - i] = narrow(_mm256_srai_epi32(_mm256_sub_epi32(even[i], odd), kShift));
  }
}

FEEDRATE_AVX2_INLINE inline void transpose(__m128i v[8]) {
  __m128i a[8], b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = _mm_unpacklo_epi16(v[2 * i], v[2 * i + 1]);
    a[2 * i + 1] = _mm_unpackhi_epi16(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    b[4 * i] = _mm_unpacklo_epi32(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = _mm_unpackhi_epi32(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = _mm_unpacklo_epi32(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = _mm_unpackhi_epi32(a[4 * i + 1], a[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = _mm_unpacklo_epi64(b[i], b[i + 4]);
    v[2 * i + 1] = _mm_unpackhi_epi64(b[i], b[i + 4]);
  }
}

// kHalf: only the four lowest frequencies of each direction are there.
template <bool kHalf>
FEEDRATE_AVX2 void idct_avx2(const std::int16_t* coefficients, std::uint8_t* out,
                                               std::ptrdiff_t stride) {
  __m128i v[8];
#pragma GCC unroll 8
  for (int i = 0; i < (kHalf ? 4 : 8); ++i) v[i] = _mm_load_si128(reinterpret_cast<const __m128i*>(coefficients + 8 * i));
  transform8<kColumnShift, kHalf>(v);
  transpose(v);
  transform8<kRowShift, kHalf>(v);
  transpose(v);
  const __m128i middle = _mm_set1_epi8(static_cast<char>(0x80));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m128i rows = _mm_add_epi8(_mm_packs_epi16(v[2 * i], v[2 * i + 1]), middle);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 2 * i * stride), rows);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + (2 * i + 1) * stride), _mm_unpackhi_epi64(rows, rows));
  }
}

#endif

}  // namespace

void jpeg_idct(const std::int16_t* coefficients, int used, std::uint8_t* out, std::ptrdiff_t stride) {
  if (used == 1) return flat(coefficients[0], out, stride);
  // The first ten of the zigzag lie in the upper left 4x4.
  FEEDRATE_WITH_AVX2(return (used <= 10 ? idct_avx2<true> : idct_avx2<false>)(coefficients, out, stride));
  idct_plain(coefficients, out, stride);
}

}  // namespace feedrate
