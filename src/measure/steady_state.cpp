#include "measure/steady_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "measure/statistics.h"

namespace feedrate::measure {
namespace {

constexpr double kChange = 0.05;                // a change that matters
constexpr double kMostChange = 0.10;            // the change that the interval may reach
constexpr double kErrors = 4;                   // standard errors that make a change point
constexpr std::size_t kFewest = 6, kMost = 40;  // blocks
constexpr std::size_t kCoarse = 10;             // blocks, where their length is not chosen
constexpr std::size_t kManySteps = 64;

// sums[i]: of the first i values.
std::vector<double> sums_of(std::span<const double> x) {
  std::vector<double> sums(x.size() + 1, 0);
  std::partial_sum(x.begin(), x.end(), sums.begin() + 1);
  return sums;
}

// Means of blocks of `length` steps; the oldest steps that fill none are left out.
std::vector<double> blocks_of(std::span<const double> sums, std::size_t length) {
  std::vector<double> means;
  for (std::size_t at = (sums.size() - 1) % length; at + length < sums.size(); at += length) {
    means.push_back((sums[at + length] - sums[at]) / static_cast<double>(length));
  }
  return means;
}

// How far the least-squares line moves from the first block to the last, and half its 95 %
// interval; shares of the mean.
struct Slope {
  double moved, half;
};
Slope slope_of(std::span<const double> blocks) {
  const auto k = static_cast<double>(blocks.size());
  const double mean = mean_of(blocks), middle = (k - 1) / 2;
  double across = 0, squares = 0, errors = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double at = static_cast<double>(i) - middle;
    across += at * blocks[i];
    squares += at * at;
  }
  const double slope = across / squares;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    errors += std::pow(blocks[i] - mean - slope * (static_cast<double>(i) - middle), 2);
  }
  const int degrees = static_cast<int>(blocks.size()) - 2;
  return {std::abs(slope) * k / mean,
          student_t_975(degrees) * std::sqrt(errors / degrees / squares) * k / mean};
}

double squares_around_mean(std::span<const double> x) {
  const double mean = mean_of(x);
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [=](double sum, double v) { return sum + (v - mean) * (v - mean); });
}

bool has_change_point(std::span<const double> blocks) {
  const double mean = mean_of(blocks);
  for (std::size_t at = 1; at < blocks.size(); ++at) {
    const auto before = blocks.first(at), after = blocks.subspan(at);
    const double difference = std::abs(mean_of(after) - mean_of(before));
    const double variance = (squares_around_mean(before) + squares_around_mean(after)) /
                            static_cast<double>(blocks.size() - 2);
    const double error = std::sqrt(variance * (1.0 / static_cast<double>(before.size()) +
                                               1.0 / static_cast<double>(after.size())));
    if (difference > kChange * mean && difference > kErrors * error) return true;
  }
  return false;
}

}  // namespace

bool is_steady(std::span<const double> step_seconds) {
  if (step_seconds.size() < kSteadyNeeds) return false;
  const std::span<const double> half = step_seconds.last(step_seconds.size() / 2);
  const std::vector<double> sums = sums_of(half);
  std::vector<double> best;
  Slope slope{0, INFINITY};
  for (std::size_t length = std::max<std::size_t>(1, half.size() / kMost);
       length <= half.size() / kFewest; ++length) {
    std::vector<double> blocks = blocks_of(sums, length);
    if (const Slope s = slope_of(blocks); s.half < slope.half) slope = s, best = std::move(blocks);
  }
  if (best.empty() || has_change_point(best)) return false;
  if (slope.moved <= kChange && slope.moved + slope.half <= kMostChange) return true;
  if (half.size() < kManySteps) return false;
  // Ten blocks, not the quietest of all block lengths, which would underrate the noise.
  const std::vector<double> ten = blocks_of(sums, half.size() / kCoarse);
  const Slope noisy = slope_of(ten);
  return noisy.moved <= noisy.half && !has_change_point(ten);
}

bool is_changing(std::span<const double> step_seconds) {
  if (step_seconds.size() < 2 * kCoarse) return false;
  const std::vector<double> ten = blocks_of(sums_of(step_seconds), step_seconds.size() / kCoarse);
  const Slope slope = slope_of(ten);
  return slope.moved - slope.half > kChange || has_change_point(ten);
}

}  // namespace feedrate::measure
