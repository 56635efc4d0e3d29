#include "measure/steady_state.h"

#include <cmath>
#include <numeric>

namespace feedrate {
namespace {

struct Moments {
  double mean;
  double variance_of_mean;
};

Moments moments(std::span<const double> x) {
  const double n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return {mean, squares / (n - 1) / n};
}

}  // namespace

bool is_steady(std::span<const double> step_seconds) {
  if (step_seconds.size() < kSteadyNeeds) return false;
  const std::size_t quarter = step_seconds.size() / 4;
  const Moments last = moments(step_seconds.last(quarter));
  const Moments before = moments(step_seconds.last(2 * quarter).first(quarter));
  const double difference = std::abs(last.mean - before.mean);
  const double error = std::sqrt(last.variance_of_mean + before.variance_of_mean);
  return difference <= 0.05 * before.mean || difference <= 2 * error;
}

}  // namespace feedrate
