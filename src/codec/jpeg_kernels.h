#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate {

// The arithmetic of a JPEG decoder, to the bit that of libjpeg's defaults (jidctint.c: accurate integer
// DCT; jdsample.c: fancy upsampling; jdcolor.c), on AVX2 where the processor has it. Thread-safe.

// An 8x8 inverse DCT of dequantised coefficients (row by row, 16-byte aligned) to 8 rows of 8 samples. All
// but the first `used` in zigzag order (1 to 64) are zero.
void jpeg_idct(const std::int16_t* coefficients, int used, std::uint8_t* out, std::ptrdiff_t stride);

// The same to `side` (4, 2 or 1) rows of as many samples: the picture at half, a quarter or an eighth of its size
// (jidctred.c).
void jpeg_idct_reduced(const std::int16_t* coefficients, int used, int side, std::uint8_t* out, std::ptrdiff_t stride);

// Doubles `count` chroma samples in width by libjpeg's triangle filter, replicating nothing: reads
// near[-1] to near[count]. out: 2 * count samples. May write up to 32 bytes beyond.
void jpeg_widen(const std::uint8_t* near, int count, std::uint8_t* out);

// The same after blending rows: 3/4 near, 1/4 far, without rounding in between.
void jpeg_widen_blended(const std::uint8_t* near, const std::uint8_t* far, int count, std::uint8_t* out);

// `width` pixels of YCbCr to packed RGB. May read up to 32 samples and write up to 96 bytes beyond.
void jpeg_ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, int width,
                     std::uint8_t* rgb);

}  // namespace feedrate
