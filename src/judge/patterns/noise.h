#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "judge/patterns.h"
#include "judge/patterns/series.h"

namespace feedrate::judge {

inline constexpr double kLevel = kFalseAlarms / 6;  // of each pattern
inline constexpr double kNeighbours = 0.3;          // correlation that noise may have

// Series like a given one, of noise alone of that correlation: its residuals in another order.
class Noise {
 public:
  Noise(Series like, double correlation)
      : correlation_(std::min(correlation, 0.9)), middle_(mean_of(like)) {
    for (std::size_t i = 0; i < like.size(); ++i) {
      const double off = like[i] - middle_;
      residuals_.push_back(i == 0 ? off * first() : off - correlation_ * (like[i - 1] - middle_));
    }
    series_.resize(like.size());
  }
  Series next() {
    shuffle(residuals_, ++draws_);
    double off = residuals_.front() / first();
    series_.front() = middle_ + off;
    for (std::size_t i = 1; i < series_.size(); ++i)
      series_[i] = middle_ + (off = correlation_ * off + residuals_[i]);
    return series_;
  }

 private:
  double first() const { return std::sqrt(1 - correlation_ * correlation_); }

  double correlation_, middle_;
  std::vector<double> residuals_, series_;
  std::uint64_t draws_ = 0;  // the seed, too
};

// The p value of a statistic: how often `draw` reaches it. The fourth time says enough: the value
// is above kLevel then, whatever follows.
template <typename Draw>
double chance_of(double statistic, Draw draw) {
  constexpr int kDraws = 1999, kEnough = 4;
  static_assert(kEnough > kLevel * kDraws);
  const double reached_from = statistic - 1e-9 * std::abs(statistic);  // rounding is no difference
  int reached = 0;
  for (int i = 1; i <= kDraws; ++i) {
    if (draw() >= reached_from && ++reached == kEnough) return kEnough / static_cast<double>(i);
  }
  return (reached + 1.0) / (kDraws + 1);
}

}  // namespace feedrate::judge
