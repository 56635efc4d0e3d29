#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "run/blocks.h"
#include "run/pairs.h"
#include "run/rank_counters.h"
#include "run/rank_setup.h"
#include "run/rank_task.h"
#include "run/window.h"

namespace feedrate::run {

// What one rank does where its blocks begin and end, and keeps of each. When that is, rank 0
// decides. Used by the rank's thread.
class RankBlocks {
 public:
  // How far the rank is.
  struct Now {
    std::span<const device::StepRecord> steps;  // that have ended
    std::size_t submitted = 0;                  // steps
    std::int64_t made = -1;                     // samples by the loader; -1: it makes none
    std::int64_t taken = 0;                     // samples by the cell's own steps
  };

  // All outlive it.
  RankBlocks(const RankTask& task, int rank, RankSetup& setup, RankCounters& counters);

  void settle(const Block& block, const Now& now);  // it begins
  void measure(std::size_t block, const Now& now);  // it has settled; its place in the plan
  void end(const Now& now);                         // and is over
  void leave(const Now& now);                       // the last one is over, or the run ends
  void begin_anew();                                // what was kept does not count

  // Whether the loader's workers stand, where they are to. They finish the samples in hand first,
  // on the CPUs of the ceiling's steps. Of this rank alone.
  bool is_quiet() const { return !in_flight_at_pause_ || setup_.loader->is_quiet(); }

  // Those that were measured; of a run in pairs, with the first block of a pair that is not whole.
  const std::vector<BlockSpan>& kept() const { return kept_; }
  // The whole pairs; without pairs, all. The last call.
  std::vector<BlockSpan> take();
  // The first step of the block that is measured.
  std::int64_t first_step() const { return span_.first; }

  // Of a run in pairs: of the blocks that have ended.
  const PairTotals& totals() const { return totals_; }
  // Of the same: from the queue in the cell's blocks, see QueueBalance; so far, and in the
  // whole pairs.
  double drawn(const Now& now) const;
  double drawn_in_pairs() const { return drawn_in_pairs_; }

 private:
  void delay_nothing();
  void let_loader_stand(bool stands, const Now& now);
  void wait_for_device();
  void keep_block_of_pair(const Now& now);

  const RankTask& task_;
  const int rank_;
  RankSetup& setup_;
  RankCounters& counters_;
  BlockSpan span_;  // of the block that is measured
  std::int64_t span_began_ns_ = 0;
  std::optional<std::size_t> in_flight_at_pause_;  // steps; while the loader is paused
  std::vector<BlockSpan> kept_;
  QueueBalance queue_;
  PairTotals totals_;
  bool loader_is_ahead_ = false;  // in the pairs so far
  double drawn_in_pairs_ = 0;
};

}  // namespace feedrate::run
