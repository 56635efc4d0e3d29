#pragma once
#include <cstdint>

namespace feedrate::codec {

// The arithmetic of a JPEG decoder, to the bit that of libjpeg's defaults (jdsample.c: fancy
// upsampling; jdcolor.c), on AVX2 where the processor has it. Thread-safe.

// Doubles `count` chroma samples in width by libjpeg's triangle filter, replicating nothing: reads
// near[-1] to near[count]. out: 2 * count samples. May write up to 32 bytes beyond.
void jpeg_widen(const std::uint8_t* near, int count, std::uint8_t* out);

// The same after blending rows: 3/4 near, 1/4 far, without rounding in between.
void jpeg_widen_blended(const std::uint8_t* near, const std::uint8_t* far, int count,
                        std::uint8_t* out);

// `width` pixels of YCbCr to packed RGB. May read up to 32 samples and write up to 96 bytes beyond.
void jpeg_ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                     int width, std::uint8_t* rgb);

}  // namespace feedrate::codec
