#include "codec/jpeg/idct.h"

// The inverse DCT of jidctint.c as libjpeg-turbo computes it on vectors: 13 fractional bits, and
// sums of two inputs in 16 bits, which wrap on values that only a damaged file has. Blocks with
// coefficients in their first row alone have no first pass.
#include <algorithm>
#include <cstring>

#include "codec/avx2.h"
#include "codec/jpeg/dct.h"

namespace feedrate::codec {
namespace {

// Factors of inputs 2 and 6.
constexpr int kEvenSum[2] = {10703, 4433}, kEvenDifference[2] = {4433, -10704};
// Of the sums 3 + 7 and 1 + 5.
constexpr int kSums73[2] = {-6436, 9633}, kSums51[2] = {9633, 6437};
// Of inputs 7 and 1, then of 5 and 3, for outputs 0 to 3 (and, subtracted, 7 to 4).
constexpr int kOuter[2][2] = {{-7373, 4926}, {-4927, -7373}};    // outputs 0 and 3
constexpr int kInner[2][2] = {{-20995, 4177}, {-4176, -20995}};  // outputs 1 and 2
// Of inputs 1 and 3 where 5 and 7 are zero, for outputs 0 to 3.
constexpr int kOddHalf[4][2] = {{11363, 9633}, {9633, -2259}, {6437, -11362}, {2260, -6436}};

int int16_of(int value) { return static_cast<std::int16_t>(value); }

// Eight inputs `step` apart to eight outputs, rounded by `shift`.
void transform(const std::int16_t* in, int step, int shift, int out[8]) {
  const auto at = [&](int i) { return static_cast<int>(in[i * step]); };
  const int round = 1 << (shift - 1);
  const int sum = int16_of(at(0) + at(4)) * 8192 + round,
            difference = int16_of(at(0) - at(4)) * 8192 + round;
  const int tilt = at(2) * kEvenSum[0] + at(6) * kEvenSum[1];
  const int bend = at(2) * kEvenDifference[0] + at(6) * kEvenDifference[1];
  const int even[4] = {sum + tilt, difference + bend, difference - bend, sum - tilt};
  const int z3 = int16_of(at(3) + at(7)), z4 = int16_of(at(1) + at(5));
  const int z73 = z3 * kSums73[0] + z4 * kSums73[1], z51 = z3 * kSums51[0] + z4 * kSums51[1];
  const auto outer = [&](int i) { return at(7) * kOuter[i][0] + at(1) * kOuter[i][1]; };
  const auto inner = [&](int i) { return at(5) * kInner[i][0] + at(3) * kInner[i][1]; };
  const int odd[4] = {outer(0) + z51, inner(0) + z73, inner(1) + z51, outer(1) + z73};
  for (int i = 0; i < 4; ++i) {
    out[i] = (even[i] + odd[i]) >> shift;
    out[7 - i] = (even[i] - odd[i]) >> shift;
  }
}

void idct_plain(const std::int16_t* coefficients, std::uint8_t* out, std::ptrdiff_t stride) {
  std::int16_t columns[64];
  int line[8];
  const bool one_row =
      std::all_of(coefficients + 8, coefficients + 64, [](int c) { return c == 0; });
  for (int x = 0; x < 8; ++x) {
    if (one_row) {
      std::fill_n(line, 8, int16_of(4 * coefficients[x]));
    } else {
      transform(coefficients + x, 8, kDctColumnShift, line);
    }
    for (int y = 0; y < 8; ++y)
      columns[8 * y + x] = static_cast<std::int16_t>(std::clamp(line[y], -32768, 32767));
  }
  for (int y = 0; y < 8; ++y) {
    transform(columns + 8 * y, 1, kDctRowShift, line);
    for (int x = 0; x < 8; ++x) out[y * stride + x] = dct_sample(line[x]);
  }
}

// The result of both passes where only the first coefficient is not zero.
void flat(int first, std::uint8_t* out, std::ptrdiff_t stride) {
  const std::uint8_t sample = dct_sample((int16_of(4 * first) + 16) >> 5);
  for (int y = 0; y < 8; ++y) std::memset(out + y * stride, sample, 8);
}

#ifdef FEEDRATE_AVX2
// Lanes 0 to 7 of a and b as pairs.
FEEDRATE_AVX2_INLINE inline __m256i pairs(__m128i a, __m128i b) {
  return _mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b));
}
FEEDRATE_AVX2_INLINE inline __m256i factors(int first, int second) {
  return _mm256_set1_epi32(
      static_cast<int>(static_cast<unsigned>(second) << 16 | (first & 0xffff)));
}
FEEDRATE_AVX2_INLINE inline __m128i narrow(__m256i v) {
  return _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

FEEDRATE_AVX2_INLINE inline __m256i by(__m256i v, const int (&factor)[2]) {
  return _mm256_madd_epi16(v, factors(factor[0], factor[1]));
}
FEEDRATE_AVX2_INLINE inline __m256i times8192(__m128i v) {
  return _mm256_srai_epi32(pairs(_mm_setzero_si128(), v), 3);
}

// Outputs 0 to 3 of the odd inputs.
template <bool kHalf>
FEEDRATE_AVX2_INLINE inline void odd_part(const __m128i v[8], __m256i odd[4]) {
  if (kHalf) {
    const __m256i v13 = pairs(v[1], v[3]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) odd[i] = by(v13, kOddHalf[i]);
    return;
  }
  const __m256i z = pairs(_mm_add_epi16(v[3], v[7]), _mm_add_epi16(v[1], v[5]));
  const __m256i z73 = by(z, kSums73), z51 = by(z, kSums51);
  const __m256i v71 = pairs(v[7], v[1]), v53 = pairs(v[5], v[3]);
  odd[0] = _mm256_add_epi32(by(v71, kOuter[0]), z51);
  odd[1] = _mm256_add_epi32(by(v53, kInner[0]), z73);
  odd[2] = _mm256_add_epi32(by(v53, kInner[1]), z51);
  odd[3] = _mm256_add_epi32(by(v71, kOuter[1]), z73);
}

// Eight transforms at once, one a lane: v[i] holds input i, then output i. kHalf: inputs 4 to 7 are
// zero.
template <int kShift, bool kHalf>
FEEDRATE_AVX2_INLINE inline void transform8(__m128i v[8]) {
  const __m256i v26 = pairs(v[2], kHalf ? _mm_setzero_si128() : v[6]);
  const __m256i round = _mm256_set1_epi32(1 << (kShift - 1));
  const __m256i sum = _mm256_add_epi32(times8192(kHalf ? v[0] : _mm_add_epi16(v[0], v[4])), round);
  const __m256i difference =
      kHalf ? sum : _mm256_add_epi32(times8192(_mm_sub_epi16(v[0], v[4])), round);
  const __m256i tilt = by(v26, kEvenSum), bend = by(v26, kEvenDifference);
  const __m256i even[4] = {_mm256_add_epi32(sum, tilt), _mm256_add_epi32(difference, bend),
                           _mm256_sub_epi32(difference, bend), _mm256_sub_epi32(sum, tilt)};
  __m256i odd[4];
  odd_part<kHalf>(v, odd);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] = narrow(_mm256_srai_epi32(_mm256_add_epi32(even[i], odd[i]), kShift));
    v[7 - i] = narrow(_mm256_srai_epi32(_mm256_sub_epi32(even[i], odd[i]), kShift));
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

// kHalf: all but the four lowest frequencies of each direction are zero.
template <bool kHalf>
FEEDRATE_AVX2 void idct_avx2(const std::int16_t* coefficients, std::uint8_t* out,
                             std::ptrdiff_t stride) {
  __m128i v[8];
#pragma GCC unroll 8
  for (int i = 0; i < (kHalf ? 4 : 8); ++i)
    v[i] = _mm_load_si128(reinterpret_cast<const __m128i*>(coefficients + 8 * i));
  __m128i below = v[1];
#pragma GCC unroll 8
  for (int i = 2; i < (kHalf ? 4 : 8); ++i) below = _mm_or_si128(below, v[i]);
  if (_mm_testz_si128(below, below)) {
    const __m128i row = _mm_slli_epi16(v[0], 2);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) v[i] = row;
  } else {
    transform8<kDctColumnShift, kHalf>(v);
  }
  transpose(v);
  transform8<kDctRowShift, kHalf>(v);
  transpose(v);
  const __m128i middle = _mm_set1_epi8(static_cast<char>(0x80));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m128i rows = _mm_add_epi8(_mm_packs_epi16(v[2 * i], v[2 * i + 1]), middle);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 2 * i * stride), rows);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + (2 * i + 1) * stride),
                     _mm_unpackhi_epi64(rows, rows));
  }
}

#endif

}  // namespace

void jpeg_idct(const std::int16_t* coefficients, int used, std::uint8_t* out,
               std::ptrdiff_t stride) {
  if (used == 1) return flat(coefficients[0], out, stride);
  // The first ten of the zigzag lie in the upper left 4x4.
  FEEDRATE_WITH_AVX2(
      return (used <= 10 ? idct_avx2<true> : idct_avx2<false>)(coefficients, out, stride));
  idct_plain(coefficients, out, stride);
}

}  // namespace feedrate::codec
