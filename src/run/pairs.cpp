#include "run/pairs.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "measure/clock.h"

namespace feedrate::run {
namespace {

constexpr double kUsualBlock = 0.1;  // seconds
constexpr double kManyPairs = 200;   // more of them tell hardly more
constexpr int kLeastSteps = 4;       // of a block, on average
// Blocks have 0.5 to 1.5 times as many steps as they would have, by chance: with all alike, a long
// step in a rhythm falls into the same part of many pairs in a row, and their interval knows
// nothing of it. Simulated with long steps after each 2 to 64 steps (tests/run/test_blocks.cpp, of
// each 1000 runs of 20 s), 92 % of the intervals held the true rate, and 33 % of every sixth
// step's; now 96 % and, of every 64th, the worst, 84 %.
// Both of a pair have the same: what slows the machine for a whole pair then has as much weight in
// the one as in the other.
constexpr double kLeastJitter = 0.5;
// A cell's block settles for so long if its workers stood still before it: they find their caches
// cold and, on a virtual machine, their CPU given away. Their batches took 2 to 6 % longer in the
// first 0.1 s, 1.3 to 2 % between 0.15 and 0.35 s, and as long as later from there on. What settles
// tells nothing, so the block itself is longer as well.
constexpr double kSettlingAfterPause = 0.3;  // seconds
constexpr double kLengthAfterPause = 2;      // of a usual block

// Steps after which a loader's batches come in the same rhythm again: workers that each make whole
// batches may finish them at the same time.
int rhythm_of(const plan::CellSettings& settings) {
  return settings.loader == "batch" ? settings.workers : 1;
}

// `pair`: how long one is with what settles, in usual blocks.
double seconds_of_block(const RunLimits& limits, double pair) {
  const double blocks_s = limits.min_seconds / pair;
  return std::clamp(kUsualBlock, blocks_s / kManyPairs, blocks_s / kLeastPairs);
}

}  // namespace

BlockPlan pairs_of(const plan::CellSettings& settings, const RunLimits& limits, std::uint64_t seed,
                   std::size_t most) {
  Block cell;
  double settling = kSettlingShare;  // of the cell, in usual blocks
  if (settings.has_workers_at_work()) {
    cell.length = kLengthAfterPause;
    settling = kSettlingAfterPause / kUsualBlock;
  }
  BlockPlan plan{.blocks = {},
                 .seconds = seconds_of_block(limits, kSettlingShare + 1 + settling + cell.length),
                 .least_steps = std::max(kLeastSteps, rhythm_of(settings)),
                 .rhythm = rhythm_of(settings),
                 // A CPU's step has ended when the next one is submitted; other devices are two
                 // steps behind.
                 .settling_steps = settings.device_kind == "cpu" ? 1u : kSettlingSteps,
                 .in_pairs = true,
                 .may_end_early = !settings.loads()};
  const Block ceiling{.is_ceiling = true};
  cell.settling_s = std::min(settling * plan.seconds, kSettlingAfterPause);
  Random coin(mix64(seed, 0x7061697273ULL));
  for (std::size_t pair = 0; pair < most; ++pair) {
    const bool ceiling_first = coin.below(2) == 1;
    const double jitter = kLeastJitter + coin.uniform();
    for (const bool is_first : {true, false}) {
      plan.blocks.push_back(ceiling_first == is_first ? ceiling : cell);
      plan.blocks.back().jitter = jitter;
    }
  }
  return plan;
}

void PairTotals::add(const BlockSpan& span, std::span<const device::StepRecord> steps) {
  OfKind& kind = span.is_ceiling ? ceiling : cell;
  const auto first = static_cast<std::size_t>(span.first),
             last = static_cast<std::size_t>(span.last);
  kind.steps += span.last - span.first;
  for (std::size_t i = first; i < last; ++i) {
    kind.seconds += measure::seconds(steps[i].end_ns - steps[i - 1].end_ns);
    kind.idle_s += std::max(0.0, measure::seconds(steps[i].start_ns - steps[i - 1].end_ns));
  }
  if (span.is_ceiling) return;
  made_in_s += span.made_in_s;
  for (const measure::StageTotal& stage : span.stages.stage)
    worked_s += measure::seconds(stage.wall_ns);
}

bool is_loader_ahead(const PairTotals& totals, int workers) {
  return workers > 0 && totals.made_in_s > 0 &&
         totals.cell.idle_s <= kHardlyWaits * totals.cell.seconds &&
         totals.worked_s <= (1 - kSpare) * workers * totals.made_in_s;
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

double seconds_left(const PairsSoFar& so_far, const RunLimits& limits) {
  if (so_far.pairs == 0) return -1;
  const auto left = [&](double wanted, double done) {
    return done <= 0 ? -1 : so_far.lasted_s * (wanted / done - 1);
  };
  const double most = std::max({limits.min_seconds - so_far.lasted_s,
                                left(kLeastPairs, static_cast<double>(so_far.pairs)),
                                left(limits.min_steps, static_cast<double>(so_far.cell_steps))});
  return most > 0 ? std::min(most, limits.max_seconds - so_far.run_s) : -1;
}

RunProgress progress_of(const PairTotals& totals, double images) {
  const auto rate = [&](const PairTotals::OfKind& all) {
    return all.seconds > 0 ? images * static_cast<double>(all.steps) / all.seconds : 0;
  };
  const PairTotals::OfKind& cell = totals.cell;
  return {.phase = Phase::measuring,
          .steps = static_cast<std::size_t>(cell.steps),
          .imgs_per_s = rate(cell),
          .ceiling_imgs_per_s = rate(totals.ceiling),
          .device_idle = cell.seconds > 0 ? std::min(1.0, cell.idle_s / cell.seconds) : 0};
}

double longest_warmup_s(const RunLimits& limits) { return 3 * limits.warmup_seconds; }

Shortest shortest_of(const BlockPlan& plan, double step_s, const RunLimits& limits) {
  double settling_s = kSettlingShare * plan.seconds;
  for (const Block& block : plan.blocks) settling_s = std::max(settling_s, block.settling_s);
  const double step = std::max(step_s, 1e-9);
  // In steps, of a pair: what there is time for, and what its two blocks settle for.
  const double pair = limits.max_seconds / (static_cast<double>(kLeastPairs) * step),
               settling_of_ceiling = static_cast<double>(plan.settling_steps),
               in_work_of_cell = static_cast<double>(plan.settling_steps) - 1,
               free = pair - settling_of_ceiling - in_work_of_cell,
               settling = std::clamp(std::ceil(settling_s / step), 1.0,
                                     std::max(1.0, std::floor(free) - 2));
  const double fit = std::floor((free - settling) / 2);
  // The longest of blocks that differ; else all are alike.
  const bool is_as_planned = fit >= (kLeastJitter + 1) * plan.least_steps;
  const int most = is_as_planned ? plan.least_steps : std::max(1, plan.least_steps - 1);
  return {std::clamp(static_cast<int>(std::min(fit, 1e6)), 1, most), settling * step};
}

}  // namespace feedrate::run
