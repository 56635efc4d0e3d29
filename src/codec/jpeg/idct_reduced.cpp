#include "codec/jpeg/idct_reduced.h"

// The inverse DCTs of jidctred.c: an 8x8 block's low frequencies to 4x4, 2x2 or 1x1 samples, by the
// same integers. The loops are left to the compiler's vectoriser.
#include <algorithm>
#include <cstring>

#include "codec/avx2.h"
#include "codec/jpeg/dct.h"

namespace feedrate::codec {
namespace {

int descaled(int value, int shift) { return (value + (1 << (shift - 1))) >> shift; }

// Inputs 0 to 7 to four outputs; input 4 has no weight here.
[[gnu::always_inline]] inline void four(const int in[8], int shift, int out[4]) {
  const int even = in[0] * 16384, tilt = in[2] * 15137 - in[6] * 6270;
  const int inner = -in[7] * 1730 + in[5] * 11893 - in[3] * 17799 + in[1] * 8697;
  const int outer = -in[7] * 4176 - in[5] * 4926 + in[3] * 7373 + in[1] * 20995;
  out[0] = descaled(even + tilt + outer, shift + 1);
  out[3] = descaled(even + tilt - outer, shift + 1);
  out[1] = descaled(even - tilt + inner, shift + 1);
  out[2] = descaled(even - tilt - inner, shift + 1);
}

// Inputs 0 and the odd ones to two outputs.
[[gnu::always_inline]] inline void two(const int in[8], int shift, int out[2]) {
  const int even = in[0] * 32768;
  const int odd = -in[7] * 5906 + in[5] * 6967 - in[3] * 10426 + in[1] * 29692;
  out[0] = descaled(even + odd, shift + 2);
  out[1] = descaled(even - odd, shift + 2);
}

// Columns, then rows; kLine makes the kSide outputs of each.
template <int kSide, void (*kLine)(const int*, int, int*)>
[[gnu::always_inline]] inline void reduce(const std::int16_t* coefficients, std::uint8_t* out,
                                          std::ptrdiff_t stride) {
  int columns[kSide][8];
  for (int x = 0; x < 8; ++x) {
    int in[8], made[kSide];
    for (int k = 0; k < 8; ++k) in[k] = coefficients[8 * k + x];
    kLine(in, kDctColumnShift, made);
    for (int y = 0; y < kSide; ++y) columns[y][x] = made[y];
  }
  for (int y = 0; y < kSide; ++y) {
    int made[kSide];
    kLine(columns[y], kDctRowShift, made);
    for (int x = 0; x < kSide; ++x) out[y * stride + x] = dct_sample(made[x]);
  }
}

void reduce_plain(const std::int16_t* coefficients, int side, std::uint8_t* out,
                  std::ptrdiff_t stride) {
  if (side == 4) return reduce<4, four>(coefficients, out, stride);
  reduce<2, two>(coefficients, out, stride);
}

#ifdef FEEDRATE_AVX2
FEEDRATE_AVX2 void reduce_avx2(const std::int16_t* coefficients, int side, std::uint8_t* out,
                               std::ptrdiff_t stride) {
  if (side == 4) return reduce<4, four>(coefficients, out, stride);
  reduce<2, two>(coefficients, out, stride);
}
#endif

}  // namespace

void jpeg_idct_reduced(const std::int16_t* coefficients, int used, int side, std::uint8_t* out,
                       std::ptrdiff_t stride) {
  if (side == 1 || used == 1) {
    const std::uint8_t sample = dct_sample(descaled(coefficients[0], 3));
    for (int y = 0; y < side; ++y)
      std::memset(out + y * stride, sample, static_cast<std::size_t>(side));
    return;
  }
  FEEDRATE_WITH_AVX2(return reduce_avx2(coefficients, side, out, stride));
  reduce_plain(coefficients, side, out, stride);
}

}  // namespace feedrate::codec
