#pragma once
#include <cstddef>
#include <cstdint>

namespace feedrate::pipeline {

// The two passes of a separable resize of 8-bit samples, on AVX2 where the processor has it, with
// the same results where not. Between them a sample is a 16-bit number with kResizeBits fractional
// bits. Thread-safe.
inline constexpr int kResizeBits = 6;

// A row of `count` samples from `taps` rows that lie `stride` apart.
void blend_rows(const std::uint8_t* rows, std::ptrdiff_t stride, const std::int16_t* weights,
                int taps, int count, std::int16_t* out);

// `width` RGB pixels from a row of them: pixel i from `each` (even) pixels that begin with
// first[i], weighted by weights[i * each ...]. Reads up to `each` pixels and 16 bytes beyond the
// last that has a weight; writes exactly 3 * width bytes.
void gather_pixels(const std::int16_t* row, const int* first, const std::int16_t* weights, int each,
                   int width, std::uint8_t* out);

}  // namespace feedrate::pipeline
