#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace feedrate::data_gen {

// std::floor for |x| < 2^20, without the call into libm that it is on a CPU without SSE4.1.
inline int floored(double x) { return static_cast<int>(x + 0x1p20) - (1 << 20); }

// The random numbers of a picture: xoshiro256++ (Blackman and Vigna), seeded by splitmix64. No
// distribution of the standard library and no libm but sqrt, which IEEE 754 fixes: the others
// differ between libraries, and so would the pictures.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // In [0, 1).
  float uniform() { return static_cast<float>(bits() >> 40) * 0x1p-24f; }
  float uniform(float low, float high) { return low + (high - low) * uniform(); }
  bool chance(float probability) { return uniform() < probability; }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((bits() >> 32) * n) >> 32);
  }

  // Mean 0, variance 1, within 3.5: the sum of four uniform 16-bit numbers, near enough a Gaussian.
  float normal() {
    const std::uint64_t b = bits();
    const auto sum = static_cast<std::int32_t>((b & 0xffff) + (b >> 16 & 0xffff) +
                                               (b >> 32 & 0xffff) + (b >> 48));
    return static_cast<float>(sum - 131070) * (1.7320508f / 65536);
  }

  // exp(normal * sigma) * median.
  float log_normal(float median, float sigma) {
    return median * exp2(normal() * sigma * 1.442695f);
  }

 private:
  // 2^x for |x| < 100, within 1e-4.
  static float exp2(float x) {
    const int whole = floored(x);
    const float t = x - static_cast<float>(whole);
    const float fraction =
        1 + t * (0.6931472f + t * (0.2402265f + t * (0.0555041f + t * 0.0111222f)));
    return fraction * std::bit_cast<float>((whole + 127) << 23);
  }

  std::uint64_t state_[4];
};

}  // namespace feedrate::data_gen
