#include "plan/two_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/statistics.h"

namespace feedrate::plan {
namespace {

constexpr double kMostRepetitions = 1e6;  // repetitions: what needs more is out of reach

// t · s of the values, kWider: over sqrt(n) it is the half-width for a mean of n.
double reach_of(std::span<const double> logs) {
  return kWider * measure::t_half_width(logs) * std::sqrt(static_cast<double>(logs.size()));
}

double widest_reach(std::span<const double> logs, int pilot) {
  const std::size_t first = std::min(logs.size(), static_cast<std::size_t>(pilot));
  return std::max(reach_of(logs.first(first)), reach_of(logs));
}

}  // namespace

double half_width(std::span<const double> logs, int pilot) {
  if (logs.size() < kLeastPilot) return std::numeric_limits<double>::infinity();
  return widest_reach(logs, pilot) / std::sqrt(static_cast<double>(logs.size()));
}

int repetitions_needed(std::span<const double> logs, const Precision& precision) {
  const double ratio = widest_reach(logs, precision.pilot) / std::log1p(precision.target);
  const double needed = std::isfinite(ratio) ? std::min(std::ceil(ratio * ratio), kMostRepetitions)
                                             : kMostRepetitions;
  return std::max(static_cast<int>(needed), static_cast<int>(logs.size()));
}

}  // namespace feedrate::plan
