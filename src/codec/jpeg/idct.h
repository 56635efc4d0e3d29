#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate::codec {

// The arithmetic of a JPEG decoder, to the bit that of libjpeg's defaults (jidctint.c: accurate
// integer DCT), on AVX2 where the processor has it. Thread-safe.

// An 8x8 inverse DCT of dequantised coefficients (row by row, 16-byte aligned) to 8 rows of 8
// samples. All but the first `used` in zigzag order (1 to 64) are zero.
void jpeg_idct(const std::int16_t* coefficients, int used, std::uint8_t* out,
               std::ptrdiff_t stride);

}  // namespace feedrate::codec
