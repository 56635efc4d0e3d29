#include "measure/latency.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace feedrate::measure {
namespace {

// The duration that a share `p` of `all` does not exceed has this place among them, from 1 on.
std::int64_t rank_of(double p, std::int64_t all) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(p * static_cast<double>(all))));
}

std::int64_t duration_of(std::int64_t rank, const LatencyHistogram& histogram) {
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < kLatencyBuckets; ++i) {
    so_far += histogram.counts[i];
    if (so_far >= rank) return latency_of_bucket(i);
  }
  return 0;
}

}  // namespace

std::int64_t LatencyHistogram::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t LatencyHistogram::percentile_ns(double p) const {
  return duration_of(rank_of(p, count()), *this);
}

std::optional<std::int64_t> LatencyHistogram::percentile_ns(double p, std::int64_t unknown) const {
  constexpr double kMostMoved = 0.05;
  const std::int64_t known = count(), rank = rank_of(p, known + unknown);
  if (rank > known) return std::nullopt;
  const std::int64_t if_all_are_longer = duration_of(rank, *this);
  const std::int64_t if_all_are_shorter = rank > unknown ? duration_of(rank - unknown, *this) : 0;
  const auto moved = static_cast<double>(if_all_are_longer - if_all_are_shorter);
  if (moved > kMostMoved * static_cast<double>(if_all_are_longer)) return std::nullopt;
  return percentile_ns(p);
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
