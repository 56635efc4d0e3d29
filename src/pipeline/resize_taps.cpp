#include "pipeline/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace feedrate::pipeline {

void ResizeTaps::prepare(int from, double offset, double extent, int to, bool antialias,
                         bool flip) {
  const float scale = static_cast<float>(extent / to);
  const float reach = antialias ? std::max(scale, 1.0f) : 1.0f;  // half the triangle's base
  const float steepness = 1 / reach;
  const int most = antialias ? static_cast<int>(2 * std::ceil(reach)) + 1 : 2;
  each = most + most % 2;
  first.resize(static_cast<std::size_t>(to));
  count.resize(static_cast<std::size_t>(to));
  weights.assign(static_cast<std::size_t>(to) * static_cast<std::size_t>(each), 0);
  for (int i = 0; i < to; ++i) {
    const float centre = static_cast<float>(offset) + (static_cast<float>(i) + 0.5f) * scale;
    const int begin = std::clamp(static_cast<int>(centre - reach + 0.5f), 0, from - 1);
    const int end = std::clamp(static_cast<int>(centre + reach + 0.5f), begin + 1,
                               std::min(from, begin + most));
    const auto weight = [&](int x) {
      return std::max(0.0f, 1 - std::abs(static_cast<float>(x) + 0.5f - centre) * steepness);
    };
    float sum = 0;
    for (int x = begin; x < end; ++x) sum += weight(x);
    const float share = kOne / sum;
    const auto place = static_cast<std::size_t>(flip ? to - 1 - i : i);
    std::int16_t* fixed = &weights[place * static_cast<std::size_t>(each)];
    // Fixed-point weights that sum up to 1 exactly, so that what is flat stays flat: the last bits
    // go to the largest.
    int left = kOne, largest = 0;
    for (int t = 0; t < end - begin; ++t) {
      fixed[t] = static_cast<std::int16_t>(
          std::min(kOne - 1, static_cast<int>(weight(begin + t) * share + 0.5f)));
      left -= fixed[t];
      if (fixed[t] > fixed[largest]) largest = t;
    }
    fixed[largest] = static_cast<std::int16_t>(std::min(kOne - 1, fixed[largest] + left));
    first[place] = begin;
    count[place] = end - begin;
  }
}

}  // namespace feedrate::pipeline
