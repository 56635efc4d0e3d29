#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "measure/clock.h"
#include "run/pairs.h"
#include "run/rank.h"
#include "run/rank_blocks.h"
#include "run/rank_counters.h"
#include "run/rank_setup.h"

namespace feedrate::run {

// The window of one rank and the blocks in it: when they begin and end, and what is counted from
// one to the other. Rank 0 decides, and all ranks follow at the same step. Used by the rank's
// thread.
class RankWindow {
 public:
  // All outlive it. `result` has the rank's steps so far; figures of the window are written there.
  RankWindow(const RankTask& task, device::Group& group, RankSetup& setup, RankResult& result);

  // Whether the next step is one of the ceiling, in a run in pairs.
  bool is_ceiling_step() const;
  // After each step. `taken`: samples by the cell's own steps so far. False: another rank's device
  // has failed.
  bool update(std::int64_t taken);
  bool is_done() const { return mark_ == Window::kDone; }
  // Writes the window on which rank 0 has decided.
  void finish();
  // Instead, where another rank's fault or a stop has ended the run: what was measured of the
  // window remains.
  void cut_off();

 private:
  // Rank 0's decisions. `drawn`: of the queue that is least at rest.
  void decide(double drawn);
  void decide_on_blocks();
  void decide_on_pairs(double drawn);
  std::int64_t decided_mark() const;
  PairsSoFar pairs_so_far(std::size_t more, double drawn) const;
  bool may_be_cut_off() const;
  RunProgress progress() const;
  void report();

  // What all ranks do.
  std::optional<std::int64_t> agreed_mark(double drawn);
  void enter(std::int64_t mark, double drawn);
  void open();
  void end(double drawn);
  void keep_blocks();

  bool in_blocks() const { return !plan_.blocks.empty(); }
  bool in_pairs() const { return plan_.in_pairs; }
  bool has_ended() const { return mark_ >= Window::kEnded; }
  const Block& block_of_mark() const { return plan_.blocks[BlockSchedule::block_of(mark_)]; }
  bool is_first_of_pair() const { return BlockSchedule::block_of(mark_) % 2 == 0; }
  RankBlocks::Now now() const;
  std::int64_t produced() const;
  double drawn_so_far() const {
    return in_pairs() ? blocks_.drawn(now()) : queue_.drawn(produced(), taken_);
  }
  bool all_made() const {  // of a cold pass
    return setup_.pass_steps > 0 && produced() >= setup_.pass_steps * task_.settings.batch_size;
  }
  double seconds_since(std::size_t step) const {
    return measure::seconds(steps_.back().end_ns - steps_[step - 1].end_ns);
  }
  std::int64_t steps_of_block() const {  // so far, of the block that is measured
    return static_cast<std::int64_t>(steps_.size()) - blocks_.first_step();
  }

  const RankTask& task_;
  const BlockPlan& plan_;
  device::Group& group_;
  RankSetup& setup_;
  RankResult& result_;
  const std::vector<device::StepRecord>& steps_;  // the result's
  const measure::GpuMonitor gpu_;
  const std::unique_ptr<measure::HostMonitor> host_;  // rank 0's
  RankCounters counters_;
  measure::StandstillMonitor standstills_;
  Window window_;
  BlockSchedule schedule_;  // rank 0's
  RankBlocks blocks_;
  // Of the window, see Window::mark(); while it is open and cut into blocks, BlockSchedule's. Of a
  // run in pairs that warms up: which steps it makes.
  std::int64_t mark_ = 0;
  static constexpr std::int64_t kBothKinds = 0, kOwnKind = -1;
  bool both_kinds_have_run_ = false;  // rank 0's
  std::int64_t taken_ = 0;            // samples, by the cell's own steps
  // Steps at which this rank's window was opened, and its first one was; 0: not yet.
  std::size_t opened_ = 0, opened_at_first_ = 0;
  std::int64_t opened_ns_ = 0;
  QueueBalance queue_;       // of a window without pairs
  double others_drawn_ = 0;  // by the other rank whose queue was least at rest, at the step before
  std::int64_t reported_ns_ = 0;
};

}  // namespace feedrate::run
