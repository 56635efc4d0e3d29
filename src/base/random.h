#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace feedrate {

// splitmix64 (Steele, Lea and Flood 2014): mixes 64 bits; the same on every machine.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) { return mix64(mix64(a) ^ b); }

// A short stream of random numbers from one seed. Own code because the standard library's
// distributions differ between its implementations, and the pixels of an epoch must not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return mix64(state_ += 0x9e3779b97f4a7c15ULL); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // 0 .. n-1, n >= 1 (multiply-shift; the bias of 2^-32 for picture sizes does not matter here)
  int below(int n) {
    return static_cast<int>(((bits() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Fisher-Yates by our own generator: the same order everywhere for the same seed.
template <typename T>
void shuffle(std::vector<T>& items, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
}

}  // namespace feedrate
