#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "device/accelerator.h"
#include "measure/delays.h"
#include "measure/stages.h"

namespace feedrate::run {

// A part of a run in which one place is delayed, or none is, or which trains on synthetic batches.
// All ranks begin and end a block at the same step.
struct Block {
  measure::Place place = measure::Place::worker;
  measure::Delay delay{};   // ns 0: off
  bool is_ceiling = false;  // its steps are those of the cell's ceiling
  double settling_s = 0;    // it settles for so long at least
  double length = 1;        // of the plan's seconds
  double jitter = 1;        // of a run in pairs: it has so many times the steps
};

// How long a block settles: a device has two steps in work when a delay changes, and the loaders as
// many samples as workers.
inline constexpr std::size_t kSettlingSteps = 3;
inline constexpr double kSettlingShare = 0.2;    // of a block's seconds
inline constexpr double kLongestSettling = 1.0;  // seconds, where a block waits for others' quiet
// A block in which the device works so many times as long as in another one of its kind is far
// slower; where there is none yet, as in one of the other kind.
inline constexpr double kFarSlower = 3;

// What a run is cut into once its steps are steady; without blocks it is one window.
struct BlockPlan {
  std::vector<Block> blocks;
  // Of a block, at least, without the time and steps in which it settles; in pairs on average.
  double seconds = 0.5;
  int least_steps = 6;
  int rhythm = 1;  // it has a multiple of so many
  // At least one. Those before the last of them were in work when the block began; the time in
  // which it settles counts from their end.
  std::size_t settling_steps = kSettlingSteps;
  bool in_pairs = false;  // of a cell and its ceiling, see run/pairs.h
  // A block that is far slower needs no more steps: what slows the machine for a few of them meets
  // both kinds then. Not where loaders work: what they slow, they slow in the cell's blocks alone,
  // and the rest of it would fall into the ceiling's, where they stand.
  bool may_end_early = false;
};

// Decides when a block begins, has settled, and ends. A pure state machine over the steps' times.
// How many steps a block of a pair settles for, and has, is fixed before it begins, by the mean
// length of those before it, and its jitter. If it ended by the time, or always after as many, a
// long step that comes in a rhythm would fall into the same part of many pairs: into what settles,
// most often, and would not count.
class BlockSchedule {
 public:
  explicit BlockSchedule(const BlockPlan& plan)
      : plan_(plan), least_steps_(static_cast<std::size_t>(plan.least_steps)) {}

  // The first block begins. `steps`: all that ended so far.
  void begin(std::span<const device::StepRecord> steps);
  // Blocks have so many least steps, and settle for no longer than that, whatever the plan says.
  void set_least(int steps, double settling_s) {
    least_steps_ = static_cast<std::size_t>(steps), most_settling_s_ = settling_s;
  }
  // What was measured so far does not count; to be called when a block begins. Blocks are twice as
  // long from there on.
  void begin_anew();
  // `is_quiet`: nothing disturbs the block that settles. Else it settles for longer, but not
  // without end: kLongestSettling.
  void update(std::span<const device::StepRecord> steps, bool is_quiet = true);

  // Rises by one whenever a block begins, or has settled. Starts at 0; block k settles at 2k + 1
  // and is measured at 2k + 2. With each beginning anew it rises by kAnew.
  std::int64_t mark() const { return mark_; }
  bool is_over() const;  // the last block has ended
  // Blocks that have ended.
  std::size_t ended() const { return mark_ == 0 ? 0 : block_of(mark_); }

  static std::size_t block_of(std::int64_t mark) {
    return static_cast<std::size_t>(mark % kAnew - 1) / 2;
  }
  static bool is_measured(std::int64_t mark) { return mark > 0 && mark % kAnew % 2 == 0; }
  static std::int64_t times_anew(std::int64_t mark) { return mark / kAnew; }

 private:
  static constexpr std::int64_t kAnew = std::int64_t{1} << 32;

  // Of the steps of one kind so far, but for those that were in work when their block began.
  struct Pace {
    std::size_t steps = 0;
    double seconds = 0;
  };
  const Block& block() const { return plan_.blocks[block_of(mark_)]; }
  std::size_t kind() const { return block().is_ceiling ? 1 : 0; }
  Pace& pace() { return pace_[kind()]; }
  double least_seconds() const;  // of what settles, or of the block
  void begin_mark(std::size_t steps);
  std::size_t steps_of_block(double count) const;
  bool is_long_enough(std::size_t steps, double seconds) const;
  bool is_far_slower(double worked_s) const;

  const BlockPlan& plan_;
  std::size_t least_steps_;
  double most_settling_s_ = std::numeric_limits<double>::infinity();
  std::size_t times_longer_ = 1;  // than planned
  std::int64_t mark_ = 0;
  std::size_t since_ = 0;       // steps at the last change of the mark
  std::size_t needed_ = 0;      // steps until the next change; 0: the time decides
  std::array<Pace, 2> pace_{};  // of the cell, and of the ceiling
  // Seconds that the device works on a step in the fastest block of a kind; 0: unknown.
  std::array<double, 2> fastest_{};
  double worked_s_ = 0;      // that the device worked on the steps since the last change
  std::size_t counted_ = 0;  // up to which step that is
};

// A measured block of one rank.
struct BlockSpan {
  std::int64_t block = 0;            // its place in the plan
  bool is_ceiling = false;           // see Block
  bool is_disturbed = false;         // it began while workers that were to stand still worked
  std::int64_t first = 0, last = 0;  // steps[first, last); first >= 1
  std::int64_t made = -1;        // samples that the loader made; -1: none is made, as with caches
  std::int64_t extra_reads = 0;  // see pipeline::ExtraReads
  double made_in_s = 0;          // in which it made them
  measure::StageTotals stages;   // of these
};

// A measured block of all ranks.
struct BlockResult {
  std::size_t block = 0;
  double taken_per_s = 0;  // images
  double made_per_s = -1;  // samples; < 0: none is made
  double extra_reads = 0;  // for each sample that was made
  double seconds = 0;
  double idle_fraction = 0;     // of rank 0's device
  measure::StageTotals stages;  // of all workers

  // What the run can keep up. A queue that fills or empties within a block says nothing of that: it
  // is the smaller of what the loaders made and what the devices took.
  double imgs_per_s() const {
    return made_per_s < 0 || taken_per_s < made_per_s ? taken_per_s : made_per_s;
  }
};

}  // namespace feedrate::run
