#pragma once
#include <c10/util/BFloat16.h>

#include <cstdint>

// The loops of kCpuBatchNorm, one thread's share of one pass. For float and bfloat16; all
// arithmetic is in float.
namespace feedrate::models::batch_norm {

using Row = std::int64_t;

// Some rows of activations, and what is known of each channel. Unused pointers are null.
template <typename T>
struct Rows {
  Row count = 0;
  int channels = 0;
  const T* x = nullptr;
  const T* shortcut = nullptr;
  const T* gradient = nullptr;
  const T* other = nullptr;
  // Per channel: the mean, or what stands for it; weight * invstd, bias - mean * scale; the input
  // gradient's two.
  const float *mean = nullptr, *scale = nullptr, *shift = nullptr, *slope = nullptr,
              *constant = nullptr;
  T* out = nullptr;
  std::uint8_t* passed = nullptr;            // a byte per element
  float *sum = nullptr, *product = nullptr;  // per channel, added to
};

// sum += x - mean, product += (x - mean)^2
void add_deviations(const Rows<float>& rows);
void add_deviations(const Rows<c10::BFloat16>& rows);

// out = x * scale + shift (+ shortcut), cut at zero if `relu`. With a shortcut: passed = out > 0.
void write_normalised(const Rows<float>& rows, bool relu);
void write_normalised(const Rows<c10::BFloat16>& rows, bool relu);

// g = gradient (+ other), and zero where the forward ReLU gave zero: where `passed` is zero, or,
// without `passed`, where x * scale + shift <= 0. sum += g, product += g * (x - mean). With
// `passed`: out = g.
void add_gradients(const Rows<float>& rows, bool relu);
void add_gradients(const Rows<c10::BFloat16>& rows, bool relu);

// out = g * scale + (x - mean) * slope + constant, g as in add_gradients() without `passed`.
void write_input_gradients(const Rows<float>& rows, bool relu);
void write_input_gradients(const Rows<c10::BFloat16>& rows, bool relu);

inline float to_float(float v) { return v; }
inline float to_float(c10::BFloat16 v) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(v.x) << 16);
}

}  // namespace feedrate::models::batch_norm
