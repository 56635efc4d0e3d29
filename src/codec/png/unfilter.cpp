#include "codec/png/unfilter.h"

#include <cstdlib>
#include <cstring>

#include "codec/avx2.h"

namespace feedrate::codec {
namespace {

enum Filter : std::uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

int paeth(int left, int above, int corner) {
  const int to_left = std::abs(above - corner), to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

// `above`: the pixels of the row before, null for the first.
void unfilter_row(std::uint8_t filter, std::uint8_t* row, const std::uint8_t* above, int bytes,
                  int channels) {
  for (int i = 0; i < bytes; ++i) {
    const int left = i < channels ? 0 : row[i - channels];
    const int up = above == nullptr ? 0 : above[i];
    const int corner = above == nullptr || i < channels ? 0 : above[i - channels];
    const int guess = filter == kSub       ? left
                      : filter == kUp      ? up
                      : filter == kAverage ? (left + up) / 2
                      : filter == kPaeth   ? paeth(left, up, corner)
                                           : 0;
    row[i] = static_cast<std::uint8_t>(row[i] + guess);
  }
}

#ifdef FEEDRATE_AVX2
constexpr int kRows = kUnfilterRows;  // unfiltered at once

// Each pixel needs the one before it, so a single row cannot be made in parallel. Here eight rows
// are made at once, each one pixel behind the row above it. Lane r holds row r; one step ago, the
// lane below it held the pixel above.
struct Wave {
  __m256i left;                     // the pixels made last
  __m256i corner;                   // what was above them
  __m256i sub, up, average, paeth;  // masks: the lanes with that filter
};

FEEDRATE_AVX2_INLINE inline __m256i distance(__m256i a, __m256i b) {
  return _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
}

// The Paeth predictor in bytes. If left and above lie on one side of the corner, the distance to
// the corner is the sum of the two others, and no less than either even when cut to 255; else their
// difference.
FEEDRATE_AVX2_INLINE inline __m256i paeth_of(__m256i left, __m256i above, __m256i corner) {
  const __m256i to_left = distance(above, corner), to_above = distance(left, corner);
  const __m256i zero = _mm256_setzero_si256();
  const __m256i low_above = _mm256_cmpeq_epi8(_mm256_subs_epu8(above, corner), zero);
  const __m256i low_left = _mm256_cmpeq_epi8(_mm256_subs_epu8(left, corner), zero);
  const __m256i to_corner =
      _mm256_blendv_epi8(_mm256_adds_epu8(to_left, to_above), distance(to_left, to_above),
                         _mm256_xor_si256(low_above, low_left));
  const __m256i less = _mm256_min_epu8(to_corner, to_above);
  const __m256i other = _mm256_blendv_epi8(corner, above, _mm256_cmpeq_epi8(less, to_above));
  return _mm256_blendv_epi8(other, left,
                            _mm256_cmpeq_epi8(_mm256_min_epu8(less, to_left), to_left));
}

// One step: turns `filtered` into pixels. `first`: the pixel above lane 0's, in every lane. Paeth's
// predictor takes longest, so all that does not depend on it is added before it.
FEEDRATE_AVX2_INLINE inline __m256i advance(Wave& wave, __m256i filtered, __m256i first) {
  const __m256i up =
      _mm256_permutevar8x32_epi32(wave.left, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
  const __m256i above = _mm256_blend_epi32(up, first, 1);
  const __m256i odd = _mm256_and_si256(_mm256_xor_si256(wave.left, above), _mm256_set1_epi8(1));
  const __m256i mean = _mm256_sub_epi8(_mm256_avg_epu8(wave.left, above), odd);  // rounded down
  const __m256i guess = _mm256_or_si256(
      _mm256_and_si256(mean, wave.average),
      _mm256_or_si256(_mm256_and_si256(wave.left, wave.sub), _mm256_and_si256(above, wave.up)));
  const __m256i paeth = _mm256_and_si256(paeth_of(wave.left, above, wave.corner), wave.paeth);
  wave.corner = above;
  return wave.left = _mm256_add_epi8(_mm256_add_epi8(filtered, guess), paeth);
}

FEEDRATE_AVX2_INLINE inline __m256i spread4(const std::uint8_t* at) {
  int value;
  std::memcpy(&value, at, sizeof value);
  return _mm256_set1_epi32(value);
}
inline void store4(std::uint8_t* at, int value) { std::memcpy(at, &value, sizeof value); }

FEEDRATE_AVX2_INLINE inline __m256i mask_of(__m256i filters, Filter wanted) {
  return _mm256_cmpeq_epi32(filters, _mm256_set1_epi32(wanted));
}

// The values of step `step`, one a row; zero before the first and behind the last pixel of a row.
template <int kChannels>
class Waves {
 public:
  Waves(std::uint8_t* rows, const std::uint8_t* above, std::ptrdiff_t stride, int width)
      : rows_(rows), above_(above), stride_(stride), width_(width) {}

  FEEDRATE_AVX2_INLINE __m256i load(int step) const {
    const auto row = [&](int r)
                         __attribute__((target("avx2"))) { return spread4(at(r, step - r)); };
    const __m256i a = _mm256_blend_epi32(row(0), row(1), 2),
                  b = _mm256_blend_epi32(row(2), row(3), 8);
    const __m256i c = _mm256_blend_epi32(row(4), row(5), 32),
                  d = _mm256_blend_epi32(row(6), row(7), 128);
    return _mm256_blend_epi32(_mm256_blend_epi32(a, b, 12), _mm256_blend_epi32(c, d, 192), 240);
  }
  FEEDRATE_AVX2_INLINE __m256i load_inside(int step) const {
    alignas(32) int lanes[kRows] = {};
    for (int r = 0; r < kRows; ++r) {
      if (inside(r, step)) std::memcpy(&lanes[r], at(r, step - r), sizeof(int));
    }
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
  }
  // Writes four bytes for each pixel. If a pixel has three, the fourth falls into its right
  // neighbour, which must have been loaded before.
  FEEDRATE_AVX2_INLINE void store(int step, __m256i v) const {
    const __m128i low = _mm256_castsi256_si128(v), high = _mm256_extracti128_si256(v, 1);
    store4(at(0, step), _mm_cvtsi128_si32(low));
    store4(at(1, step - 1), _mm_extract_epi32(low, 1));
    store4(at(2, step - 2), _mm_extract_epi32(low, 2));
    store4(at(3, step - 3), _mm_extract_epi32(low, 3));
    store4(at(4, step - 4), _mm_cvtsi128_si32(high));
    store4(at(5, step - 5), _mm_extract_epi32(high, 1));
    store4(at(6, step - 6), _mm_extract_epi32(high, 2));
    store4(at(7, step - 7), _mm_extract_epi32(high, 3));
  }
  FEEDRATE_AVX2_INLINE void store_inside(int step, __m256i v) const {
    alignas(32) int lanes[kRows];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), v);
    for (int r = 0; r < kRows; ++r) {
      if (inside(r, step)) std::memcpy(at(r, step - r), &lanes[r], kChannels);
    }
  }
  FEEDRATE_AVX2_INLINE __m256i above(int step) const {
    return above_ != nullptr && step < width_ ? spread4(above_ + std::ptrdiff_t{kChannels} * step)
                                              : _mm256_setzero_si256();
  }

 private:
  bool inside(int row, int step) const { return step >= row && step - row < width_; }
  std::uint8_t* at(int row, int x) const {
    return rows_ + row * stride_ + std::ptrdiff_t{kChannels} * x;
  }

  std::uint8_t* rows_;
  const std::uint8_t* above_;
  std::ptrdiff_t stride_;
  int width_;
};

// Eight rows of at least eight pixels; `filters`: one a lane.
template <int kChannels>
FEEDRATE_AVX2 void unfilter_eight(const int* filters, std::uint8_t* rows, const std::uint8_t* above,
                                  std::ptrdiff_t stride, int width) {
  const __m256i filter = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(filters));
  Wave wave{_mm256_setzero_si256(), _mm256_setzero_si256(),    mask_of(filter, kSub),
            mask_of(filter, kUp),   mask_of(filter, kAverage), mask_of(filter, kPaeth)};
  const Waves<kChannels> waves(rows, above, stride, width);
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (int step = 0; step < kRows - 1; ++step) {
    advance(wave, waves.load_inside(step), waves.above(step));
    wave.left = _mm256_and_si256(
        wave.left, _mm256_cmpgt_epi32(_mm256_set1_epi32(step + 1), lane));  // those that have begun
    waves.store_inside(step, wave.left);
  }
  __m256i filtered = waves.load(kRows - 1);
  for (int step = kRows - 1; step < width - 1; ++step) {
    const __m256i pixels = advance(wave, filtered, waves.above(step));
    filtered = waves.load(step + 1);
    waves.store(step, pixels);
  }
  waves.store_inside(width - 1, advance(wave, filtered, waves.above(width - 1)));
  for (int step = width; step < width + kRows - 1; ++step) {
    waves.store_inside(step, advance(wave, waves.load_inside(step), _mm256_setzero_si256()));
  }
}

#endif

}  // namespace

bool unfilter_png(std::uint8_t* rows, int count, std::ptrdiff_t stride, int width, int channels) {
  for (int y = 0; y < count; ++y) {
    if (rows[y * stride] > kPaeth) return false;
  }
  for (int y = 0; y < count;) {
    std::uint8_t* row = rows + y * stride + 1;
    const std::uint8_t* above = y == 0 ? nullptr : row - stride;
#ifdef FEEDRATE_AVX2
    if (kHasAvx2 && channels >= 3 && width >= 2 * kRows) {
      int filters[kRows] = {};  // rows behind the last have none, whatever their bytes
      for (int r = 0; r < kRows && y + r < count; ++r) filters[r] = row[r * stride - 1];
      (channels == 3 ? unfilter_eight<3> : unfilter_eight<4>)(filters, row, above, stride, width);
      y += kRows;
      continue;
    }
#endif
    unfilter_row(row[-1], row, above, width * channels, channels);
    ++y;
  }
  return true;
}

}  // namespace feedrate::codec
