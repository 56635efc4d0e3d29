#pragma once

// Whether this processor has AVX2, and the macros that mark code for it. Code for AVX2 stands
// between #ifdef FEEDRATE_AVX2 and #endif; its caller writes
//   FEEDRATE_WITH_AVX2(return fast(x));
//   return plain(x);
// With FEEDRATE_NO_SIMD only the plain code is built, so that tests can compare the two.

#if defined(__x86_64__) && !defined(FEEDRATE_NO_SIMD)
#include <immintrin.h>

#define FEEDRATE_AVX2 __attribute__((target("avx2")))
#define FEEDRATE_AVX2_INLINE __attribute__((target("avx2"), always_inline))
#define FEEDRATE_WITH_AVX2(...) \
  if (feedrate::codec::kHasAvx2) __VA_ARGS__

namespace feedrate::codec {
inline const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
}  // namespace feedrate::codec

#else
#define FEEDRATE_WITH_AVX2(...)
#endif
