#include "run/pairs.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace feedrate::run {
namespace {

constexpr double kUsualBlock = 0.1;  // seconds
constexpr double kManyPairs = 200;    // more of them tell hardly more
constexpr int kLeastSteps = 4;        // of a block

// Steps after which a loader's batches come in the same rhythm again: workers that each make whole
// batches may finish them at the same time.
int rhythm_of(const plan::CellSettings& settings) {
  return settings.loader == "batch" ? settings.workers : 1;
}

double seconds_of_block(const RunLimits& limits) {
  const double settled_s = limits.min_seconds / (1 + kSettlingShare);
  return std::clamp(kUsualBlock, settled_s / (2 * kManyPairs), settled_s / (2 * kLeastPairs));
}

}  // namespace

BlockPlan pairs_of(const plan::CellSettings& settings, const RunLimits& limits,
                   std::uint64_t seed) {
  BlockPlan plan{.blocks = {},
                 .seconds = seconds_of_block(limits),
                 .least_steps = std::max(kLeastSteps, rhythm_of(settings)),
                 // A CPU's step has ended when the next one is submitted; other devices are two
                 // steps behind.
                 .settling_steps = settings.device_kind == "cpu" ? 1u : kSettlingSteps,
                 .in_pairs = true};
  Random coin(mix64(seed, 0x7061697273ULL));
  for (std::size_t pair = 0; pair < kMostPairs; ++pair) {
    const bool ceiling_first = coin.below(2) == 1;
    plan.blocks.push_back({.is_ceiling = ceiling_first});
    plan.blocks.push_back({.is_ceiling = !ceiling_first});
  }
  return plan;
}

PairsNext next_of(const PairsSoFar& so_far, const RunLimits& limits) {
  const auto is_as_long_as = [&](int times) {
    return so_far.pairs >= static_cast<std::size_t>(times) * kLeastPairs &&
           so_far.cell_steps >= times * limits.min_steps &&
           so_far.lasted_s >= times * limits.min_seconds;
  };
  const double at_most = is_as_long_as(2) ? kNearRest : kAtRest;
  if (is_as_long_as(1) && std::abs(so_far.drawn) <= at_most) return PairsNext::end;
  // Only where a pair still fits.
  const double each_s =
      so_far.lasted_s / static_cast<double>(std::max<std::size_t>(1, so_far.pairs));
  if (so_far.run_s + each_s > limits.max_seconds && so_far.pairs >= kLeastPairs)
    return PairsNext::end;
  const bool fits_anew = so_far.run_s + so_far.lasted_s <= limits.max_seconds;
  return is_as_long_as(2) && fits_anew ? PairsNext::begin_anew : PairsNext::another;
}

double longest_warmup_s(const RunLimits& limits) { return 3 * limits.warmup_seconds; }

int steps_that_fit(const BlockPlan& plan, double step_s, const RunLimits& limits) {
  const double blocks = 2.0 * static_cast<double>(kLeastPairs);
  const double fit = std::floor(limits.max_seconds / (blocks * std::max(step_s, 1e-9))) -
                     static_cast<double>(plan.settling_steps);
  return std::clamp(static_cast<int>(std::min(fit, 1e6)), 1, plan.least_steps);
}

}  // namespace feedrate::run
