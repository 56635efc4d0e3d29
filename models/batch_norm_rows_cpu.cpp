#include "models/batch_norm_rows_cpu.h"

// Compiled for three generations of x86 processors; the loader takes the one that fits. What is
// called inside must be inlined to be compiled with it.
#if defined(__x86_64__)
#define FEEDRATE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FEEDRATE_CLONES
#endif
#define FEEDRATE_INLINE inline __attribute__((always_inline))

namespace feedrate::models::batch_norm {
namespace {

template <typename T>
FEEDRATE_INLINE T from_float(float v) {
  return v;
}
// To the nearest, ties to even; a NaN stays one.
template <>
FEEDRATE_INLINE c10::BFloat16 from_float(float v) {
  const auto bits = __builtin_bit_cast(std::uint32_t, v);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t kept = v == v ? rounded : 0x7fc0;
  return c10::BFloat16(static_cast<std::uint16_t>(kept), c10::BFloat16::from_bits());
}

// `ivdep`: no loop writes what it reads under another name, which the compiler cannot see.
template <typename T>
FEEDRATE_INLINE void deviations(const Rows<T>& rows) {
  const int channels = rows.channels;
  const float* __restrict mean = rows.mean;
  float* __restrict sum = rows.sum;
  float* __restrict product = rows.product;
  for (Row r = 0; r < rows.count; ++r) {
    const T* __restrict x = rows.x + r * channels;
#pragma GCC ivdep
    for (int c = 0; c < channels; ++c) {
      const float d = to_float(x[c]) - mean[c];
      sum[c] += d;
      product[c] += d * d;
    }
  }
}

template <bool kRelu, bool kAdd, typename T>
FEEDRATE_INLINE void normalised(const Rows<T>& rows) {
  const int channels = rows.channels;
  const float* __restrict scale = rows.scale;
  const float* __restrict shift = rows.shift;
  for (Row r = 0; r < rows.count; ++r) {
    const T* __restrict x = rows.x + r * channels;
    const T* __restrict shortcut = kAdd ? rows.shortcut + r * channels : nullptr;
    T* __restrict out = rows.out + r * channels;
    std::uint8_t* __restrict passed = kAdd ? rows.passed + r * channels : nullptr;
#pragma GCC ivdep
    for (int c = 0; c < channels; ++c) {
      float y = to_float(x[c]) * scale[c] + shift[c];
      if constexpr (kAdd) {
        y += to_float(shortcut[c]);
        passed[c] = y > 0;
      }
      if constexpr (kRelu) y = y < 0 ? 0 : y;  // a NaN stays one
      out[c] = from_float<T>(y);
    }
  }
}

template <bool kRelu, bool kAdd, bool kOther, typename T>
FEEDRATE_INLINE void gradients(const Rows<T>& rows) {
  const int channels = rows.channels;
  const float* __restrict scale = rows.scale;
  const float* __restrict shift = rows.shift;
  const float* __restrict mean = rows.mean;
  float* __restrict sum = rows.sum;
  float* __restrict product = rows.product;
  for (Row r = 0; r < rows.count; ++r) {
    const T* __restrict x = rows.x + r * channels;
    const T* __restrict gradient = rows.gradient + r * channels;
    const T* __restrict other = kOther ? rows.other + r * channels : nullptr;
    const std::uint8_t* __restrict passed = kAdd ? rows.passed + r * channels : nullptr;
    T* __restrict out = kAdd ? rows.out + r * channels : nullptr;
#pragma GCC ivdep
    for (int c = 0; c < channels; ++c) {
      const float value = to_float(x[c]);
      float g = to_float(gradient[c]);
      if constexpr (kOther) g += to_float(other[c]);
      if constexpr (kAdd) {
        g = passed[c] ? g : 0;
        out[c] = from_float<T>(g);
      } else if constexpr (kRelu) {
        g = value * scale[c] + shift[c] > 0 ? g : 0;
      }
      sum[c] += g;
      product[c] += g * (value - mean[c]);
    }
  }
}

template <bool kRelu, typename T>
FEEDRATE_INLINE void input_gradients(const Rows<T>& rows) {
  const int channels = rows.channels;
  const float* __restrict scale = rows.scale;
  const float* __restrict shift = rows.shift;
  const float* __restrict slope = rows.slope;
  const float* __restrict constant = rows.constant;
  const float* __restrict mean = rows.mean;
  for (Row r = 0; r < rows.count; ++r) {
    const T* __restrict x = rows.x + r * channels;
    const T* __restrict gradient = rows.gradient + r * channels;
    T* __restrict out = rows.out + r * channels;
#pragma GCC ivdep
    for (int c = 0; c < channels; ++c) {
      const float value = to_float(x[c]);
      float g = to_float(gradient[c]);
      if constexpr (kRelu) g = value * scale[c] + shift[c] > 0 ? g : 0;
      out[c] = from_float<T>(g * scale[c] + (value - mean[c]) * slope[c] + constant[c]);
    }
  }
}

template <typename T>
FEEDRATE_INLINE void normalised_any(const Rows<T>& rows, bool relu) {
  if (rows.shortcut) return normalised<true, true>(rows);
  relu ? normalised<true, false>(rows) : normalised<false, false>(rows);
}
template <typename T>
FEEDRATE_INLINE void gradients_any(const Rows<T>& rows, bool relu) {
  if (rows.passed)
    return rows.other ? gradients<true, true, true>(rows) : gradients<true, true, false>(rows);
  relu ? gradients<true, false, false>(rows) : gradients<false, false, false>(rows);
}
template <typename T>
FEEDRATE_INLINE void input_gradients_any(const Rows<T>& rows, bool relu) {
  relu ? input_gradients<true>(rows) : input_gradients<false>(rows);
}

}  // namespace

FEEDRATE_CLONES void add_deviations(const Rows<float>& rows) { deviations(rows); }
FEEDRATE_CLONES void add_deviations(const Rows<c10::BFloat16>& rows) { deviations(rows); }
FEEDRATE_CLONES void write_normalised(const Rows<float>& rows, bool relu) {
  normalised_any(rows, relu);
}
FEEDRATE_CLONES void write_normalised(const Rows<c10::BFloat16>& rows, bool relu) {
  normalised_any(rows, relu);
}
FEEDRATE_CLONES void add_gradients(const Rows<float>& rows, bool relu) {
  gradients_any(rows, relu);
}
FEEDRATE_CLONES void add_gradients(const Rows<c10::BFloat16>& rows, bool relu) {
  gradients_any(rows, relu);
}
FEEDRATE_CLONES void write_input_gradients(const Rows<float>& rows, bool relu) {
  input_gradients_any(rows, relu);
}
FEEDRATE_CLONES void write_input_gradients(const Rows<c10::BFloat16>& rows, bool relu) {
  input_gradients_any(rows, relu);
}

}  // namespace feedrate::models::batch_norm
