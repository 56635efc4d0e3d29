#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate::codec {

// The arithmetic of a JPEG decoder, to the bit that of libjpeg's defaults (jidctred.c),
// on AVX2 where the processor has it. Thread-safe.

// The inverse DCT of idct.h to `side` (4, 2 or 1) rows of as many samples: the picture at half, a
// quarter or an eighth of its size (jidctred.c).
void jpeg_idct_reduced(const std::int16_t* coefficients, int used, int side, std::uint8_t* out,
                       std::ptrdiff_t stride);

}  // namespace feedrate::codec
