#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace feedrate::measure {

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Summary summarise(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return {.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) /
                  static_cast<double>(sorted.size()),
          .median = quantile(sorted, 0.5),
          .p95 = quantile(sorted, 0.95),
          .p99 = quantile(sorted, 0.99),
          .max = sorted.back()};
}

double student_t_975(int degrees) {
  static constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                      2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                      2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  if (degrees <= 20) return kTable[std::max(degrees, 1) - 1];
  // Cornish-Fisher expansion in 1/degrees (Abramowitz and Stegun 26.7.5), good to 1e-4 from here
  // on.
  const double z = 1.959964;
  const double n = degrees;
  return z + (z * z * z + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

std::optional<Interval> block_interval(std::span<const double> step_seconds, double images) {
  constexpr std::size_t kBlocks = 10;
  if (step_seconds.size() < 2 * kBlocks) return std::nullopt;
  const double mean = std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0) /
                      static_cast<double>(step_seconds.size());
  if (mean <= 0) return std::nullopt;
  const std::size_t length = step_seconds.size() / kBlocks;
  const auto last = step_seconds.last(kBlocks * length);
  double squares = 0, products = 0, before = 0;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const auto block = last.subspan(b * length, length);
    const double off =
        std::accumulate(block.begin(), block.end(), 0.0) / static_cast<double>(length) / mean - 1;
    squares += off * off;
    if (b > 0) products += off * before;
    before = off;
  }
  // The estimate of a correlation from so few blocks is 1/kBlocks too small on average. A negative
  // estimate counts as none.
  const double correlation =
      squares > 0 ? std::clamp(products / squares + 1.0 / kBlocks, 0.0, 0.9) : 0;
  const double inflation = (1 + correlation) / (1 - correlation);
  const int degrees = std::max(2, static_cast<int>((kBlocks - 1) / inflation));
  const double half =
      student_t_975(degrees) * std::sqrt(squares / (kBlocks - 1) / kBlocks * inflation);
  return Interval{images / mean * std::exp(-half), images / mean * std::exp(half)};
}

}  // namespace feedrate::measure
