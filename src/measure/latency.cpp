#include "measure/latency.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace feedrate::measure {

std::int64_t LatencyHistogram::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t LatencyHistogram::percentile_ns(double p) const {
  const std::int64_t all = count();
  const auto wanted =
      std::max<std::int64_t>(1, std::llround(std::ceil(p * static_cast<double>(all))));
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < kLatencyBuckets; ++i) {
    so_far += counts[i];
    if (so_far >= wanted) return latency_of_bucket(i);
  }
  return 0;
}

LatencyHistogram& LatencyHistogram::operator+=(const LatencyHistogram& other) {
  std::ranges::transform(counts, other.counts, counts.begin(), std::plus{});
  return *this;
}
LatencyHistogram& LatencyHistogram::operator-=(const LatencyHistogram& other) {
  std::ranges::transform(counts, other.counts, counts.begin(), std::minus{});
  return *this;
}

}  // namespace feedrate::measure
