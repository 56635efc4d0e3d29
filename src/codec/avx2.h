#pragma once

// Whether this processor runs a room's vector code, and the words that such code is marked with. Code for
// AVX2 stands between #ifdef FEEDRATE_AVX2 and #endif; what calls it says
//   FEEDRATE_WITH_AVX2(return fast(x));
//   return plain(x);
// FEEDRATE_NO_SIMD leaves the plain code alone, so that tests can compare the two.

#if defined(__x86_64__) && !defined(FEEDRATE_NO_SIMD)
#include <immintrin.h>

#define FEEDRATE_AVX2 __attribute__((target("avx2")))
#define FEEDRATE_AVX2_INLINE __attribute__((target("avx2"), always_inline))
#define FEEDRATE_WITH_AVX2(...) \
  if (feedrate::kHasAvx2) __VA_ARGS__

namespace feedrate {
inline const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
}

#else
#define FEEDRATE_WITH_AVX2(...)
#endif
