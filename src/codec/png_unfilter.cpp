#include "codec/png_unfilter.h"

#include <cstdlib>
#include <cstring>

#include "codec/avx2.h"

namespace feedrate {
namespace {

enum Filter : std::uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

int paeth(int left, int above, int corner) {
  const int to_left = std::abs(above - corner), to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

// `above`: the pixels of the row before, null for the first.
void unfilter_row(std::uint8_t filter, std::uint8_t* row, const std::uint8_t* above, int bytes, int channels) {
  for (int i = 0; i < bytes; ++i) {
    const int left = i < channels ? 0 : row[i - channels];
    const int up = above == nullptr ? 0 : above[i];
    const int corner = above == nullptr || i < channels ? 0 : above[i - channels];
    const int guess = filter == kSub ? left
                      : filter == kUp ? up
                      : filter == kAverage ? (left + up) / 2
                      : filter == kPaeth ? paeth(left, up, corner)
                                         : 0;
    row[i] = static_cast<std::uint8_t>(row[i] + guess);
  }
}

#ifdef FEEDRATE_AVX2
constexpr int kRows = 4;  // unfiltered at once

// Each pixel needs the one before it, so a row alone is a chain without end. Here four rows are under
// way, each a pixel behind the row above: lane r holds row r, the lane below it is the pixel above, one
// step ago.
struct Wave {
  __m128i left;    // the pixels made last
  __m128i corner;  // what was above them
  __m128i sub, up, average, paeth;  // masks: the lanes with that filter
};

FEEDRATE_AVX2_INLINE inline __m128i distance(__m128i a, __m128i b) {
  return _mm_or_si128(_mm_subs_epu8(a, b), _mm_subs_epu8(b, a));
}

// The Paeth predictor in bytes. If left and above lie on one side of the corner, the distance to the
// corner is the sum of the two others, and no less than either even when cut to 255; else their difference.
FEEDRATE_AVX2_INLINE inline __m128i paeth_of(__m128i left, __m128i above, __m128i corner) {
  const __m128i to_left = distance(above, corner), to_above = distance(left, corner);
  const __m128i zero = _mm_setzero_si128();
  const __m128i low_above = _mm_cmpeq_epi8(_mm_subs_epu8(above, corner), zero);
  const __m128i low_left = _mm_cmpeq_epi8(_mm_subs_epu8(left, corner), zero);
  const __m128i to_corner = _mm_blendv_epi8(_mm_adds_epu8(to_left, to_above), distance(to_left, to_above),
                                            _mm_xor_si128(low_above, low_left));
  const __m128i least = _mm_min_epu8(to_corner, _mm_min_epu8(to_left, to_above));
  const __m128i other = _mm_blendv_epi8(corner, above, _mm_cmpeq_epi8(least, to_above));
  return _mm_blendv_epi8(other, left, _mm_cmpeq_epi8(least, to_left));
}

// One step: `filtered` to pixels, `first`: the pixel above lane 0's.
FEEDRATE_AVX2_INLINE inline __m128i advance(Wave& wave, __m128i filtered, std::uint32_t first) {
  const __m128i above = _mm_or_si128(_mm_slli_si128(wave.left, 4), _mm_cvtsi32_si128(static_cast<int>(first)));
  const __m128i odd = _mm_and_si128(_mm_xor_si128(wave.left, above), _mm_set1_epi8(1));
  const __m128i mean = _mm_sub_epi8(_mm_avg_epu8(wave.left, above), odd);  // rounded down
  const __m128i guess = _mm_or_si128(
      _mm_or_si128(_mm_and_si128(wave.left, wave.sub), _mm_and_si128(above, wave.up)),
      _mm_or_si128(_mm_and_si128(mean, wave.average),
                   _mm_and_si128(paeth_of(wave.left, above, wave.corner), wave.paeth)));
  wave.corner = above;
  return wave.left = _mm_add_epi8(filtered, guess);
}

inline std::uint32_t load4(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
inline void store4(std::uint8_t* at, std::uint32_t value) { std::memcpy(at, &value, sizeof value); }

FEEDRATE_AVX2_INLINE inline __m128i mask_of(const std::uint8_t* filters, std::uint8_t wanted) {
  const auto lane = [&](int r) { return filters[r] == wanted ? -1 : 0; };
  return _mm_set_epi32(lane(3), lane(2), lane(1), lane(0));
}

// The values of step `step`, one a row; zero before the first and behind the last pixel of a row.
template <int kChannels>
class Waves {
 public:
  Waves(std::uint8_t* rows, const std::uint8_t* above, std::ptrdiff_t stride, int width)
      : rows_(rows), above_(above), stride_(stride), width_(width) {}

  FEEDRATE_AVX2_INLINE __m128i load(int step) const {
    __m128i v = _mm_cvtsi32_si128(static_cast<int>(load4(at(0, step))));
    v = _mm_insert_epi32(v, static_cast<int>(load4(at(1, step - 1))), 1);
    v = _mm_insert_epi32(v, static_cast<int>(load4(at(2, step - 2))), 2);
    return _mm_insert_epi32(v, static_cast<int>(load4(at(3, step - 3))), 3);
  }
  FEEDRATE_AVX2_INLINE __m128i load_inside(int step) const {
    alignas(16) std::uint32_t lanes[kRows];
    for (int r = 0; r < kRows; ++r) lanes[r] = inside(r, step) ? load4(at(r, step - r)) : 0;
    return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes));
  }
  // Four bytes a pixel: where it has three, into its right neighbour, which must have been loaded.
  FEEDRATE_AVX2_INLINE void store(int step, __m128i v) const {
    store4(at(0, step), static_cast<std::uint32_t>(_mm_cvtsi128_si32(v)));
    store4(at(1, step - 1), static_cast<std::uint32_t>(_mm_extract_epi32(v, 1)));
    store4(at(2, step - 2), static_cast<std::uint32_t>(_mm_extract_epi32(v, 2)));
    store4(at(3, step - 3), static_cast<std::uint32_t>(_mm_extract_epi32(v, 3)));
  }
  FEEDRATE_AVX2_INLINE void store_inside(int step, __m128i v) const {
    alignas(16) std::uint32_t lanes[kRows];
    _mm_store_si128(reinterpret_cast<__m128i*>(lanes), v);
    for (int r = 0; r < kRows; ++r) {
      if (inside(r, step)) std::memcpy(at(r, step - r), &lanes[r], kChannels);
    }
  }
  std::uint32_t above(int step) const {
    return above_ != nullptr && step < width_ ? load4(above_ + std::ptrdiff_t{kChannels} * step) : 0;
  }

 private:
  bool inside(int row, int step) const { return step >= row && step - row < width_; }
  std::uint8_t* at(int row, int x) const { return rows_ + row * stride_ + std::ptrdiff_t{kChannels} * x; }

  std::uint8_t* rows_;
  const std::uint8_t* above_;
  std::ptrdiff_t stride_;
  int width_;
};

// Four rows of at least four pixels.
template <int kChannels>
FEEDRATE_AVX2 void unfilter_four(const std::uint8_t* filters, std::uint8_t* rows,
                                                   const std::uint8_t* above, std::ptrdiff_t stride, int width) {
  Wave wave{_mm_setzero_si128(), _mm_setzero_si128(), mask_of(filters, kSub), mask_of(filters, kUp),
            mask_of(filters, kAverage), mask_of(filters, kPaeth)};
  const Waves<kChannels> waves(rows, above, stride, width);
  for (int step = 0; step < kRows - 1; ++step) {
    advance(wave, waves.load_inside(step), waves.above(step));
    const __m128i begun = _mm_set_epi32(0, step >= 2 ? -1 : 0, step >= 1 ? -1 : 0, -1);
    wave.left = _mm_and_si128(wave.left, begun);
    waves.store_inside(step, wave.left);
  }
  __m128i filtered = waves.load(kRows - 1);
  for (int step = kRows - 1; step < width - 1; ++step) {
    const __m128i pixels = advance(wave, filtered, waves.above(step));
    filtered = waves.load(step + 1);
    waves.store(step, pixels);
  }
  waves.store_inside(width - 1, advance(wave, filtered, waves.above(width - 1)));
  for (int step = width; step < width + kRows - 1; ++step) {
    waves.store_inside(step, advance(wave, waves.load_inside(step), 0));
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
    if (kHasAvx2 && channels >= 3 && width >= 2 * kRows && count - y >= kRows) {
      const std::uint8_t filters[kRows] = {row[-1], row[stride - 1], row[2 * stride - 1], row[3 * stride - 1]};
      (channels == 3 ? unfilter_four<3> : unfilter_four<4>)(filters, row, above, stride, width);
      y += kRows;
      continue;
    }
#endif
    unfilter_row(row[-1], row, above, width * channels, channels);
    ++y;
  }
  return true;
}

}  // namespace feedrate
