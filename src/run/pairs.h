#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/settings.h"
#include "run/blocks.h"
#include "run/rank_task.h"
#include "run/window.h"

namespace feedrate::run {

// A run in pairs: blocks of steps of its cell, and blocks of steps on synthetic batches, which are
// its ceiling. Both come from one process, with one network and the same kernels, and a change of
// the machine's speed that lasts longer than a pair hits both.

inline constexpr std::size_t kLeastPairs = 3;  // for an interval
inline constexpr std::size_t kMostPairs = 2000;

// The blocks of a run in pairs, either kind first by chance, as many as there may be. While those
// of the ceiling run, the loader is paused. Blocks are as short as steps and rhythm of the loader
// allow: many short pairs tell more than few long ones. `most`: of the pairs.
BlockPlan pairs_of(const plan::CellSettings& settings, const RunLimits& limits, std::uint64_t seed,
                   std::size_t most = kMostPairs);

// The steps of the blocks of either kind, and the work beside the cell's.
struct PairTotals {
  struct OfKind {
    std::int64_t steps = 0;
    double seconds = 0, idle_s = 0;  // idle: the device
  };
  OfKind cell, ceiling;
  double made_in_s = 0;  // how long the loader worked
  double worked_s = 0;   // how long its workers did, added up

  // `steps`: of the whole run.
  void add(const BlockSpan& span, std::span<const device::StepRecord> steps);
};

// What a run in pairs has measured so far.
struct PairsSoFar {
  std::size_t pairs = 0;        // whole ones
  std::int64_t cell_steps = 0;  // in the cell's blocks
  double lasted_s = 0;          // since the first pair that counts began
  double run_s = 0;             // since the first pair of all began
  double drawn = 0;             // from the queues in the cell's blocks, see QueueBalance
};
enum class PairsNext { another, end, begin_anew };

// Whether the loader could have made more in the cell's blocks than the device took: that hardly
// waited, and the workers stood still for kSpare of the time or more, for want of room. What the
// queue gave to a block is then no stock that the rate lives on: a block begins and ends anywhere
// in the rhythm of the workers, with more or less of the next batches in the making.
inline constexpr double kSpare = 0.2, kHardlyWaits = 0.01;
bool is_loader_ahead(const PairTotals& totals, int workers);

// What follows a whole pair. The pairs are enough when there are kLeastPairs, with the least time
// and steps, and the queues are at rest, by the rule that Window has. Pairs that have taken twice
// as long without that are left out, and others begun, whose blocks are twice as long: what a queue
// gives to each weighs half as much.
PairsNext next_of(const PairsSoFar& so_far, const RunLimits& limits);

// Estimate of what these pairs still need, at their pace so far, in seconds; < 0 where nobody
// knows: before the first one has ended, and where they last until the queues are at rest.
double seconds_left(const PairsSoFar& so_far, const RunLimits& limits);

// The rates, and the device's idling in the cell's blocks; `images` a step.
RunProgress progress_of(const PairTotals& totals, double images);

// How long the cell's own steps warm up at the most: a change that goes on behind that hits both
// kinds of blocks.
double longest_warmup_s(const RunLimits& limits);

// The least steps of a block, and how long one settles at the most, such that kLeastPairs fit into
// the longest time; neither more than was planned, nor less than a step. `step_s`: of the cell.
struct Shortest {
  int steps = 1;
  double settling_s = 0;
};
Shortest shortest_of(const BlockPlan& plan, double step_s, const RunLimits& limits);

}  // namespace feedrate::run
