#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "device/accelerator.h"

namespace feedrate::run {

// How long a cell warms up and is measured.
struct RunLimits {
  double warmup_seconds = 1;       // at least; it goes on until the steps are steady
  double max_warmup_seconds = 60;  // then it is measured all the same, and flagged
  int min_steps = 20;              // of the measured window
  double min_seconds = 5;
  double max_seconds = 120;  // the window ends here even if the queue has not come to rest
  double stall_seconds = 6;  // a read that takes longer ends the cell
};

// Every limit, by its name in records and on the wire: visit(name, limit).
template <class Limits, class Visit>
void for_each_limit(Limits& limits, const Visit& visit) {
  visit("warmup_seconds", limits.warmup_seconds);
  visit("max_warmup_seconds", limits.max_warmup_seconds);
  visit("min_seconds", limits.min_seconds);
  visit("max_seconds", limits.max_seconds);
  visit("min_steps", limits.min_steps);
  visit("stall_seconds", limits.stall_seconds);
}

// When the window of a run opens that goes on beside others (`feedrate jobs`), and how long the run
// goes on loading after it; moments of now_ns().
struct SharedWindow {
  std::int64_t opens_ns = 0;   // 0: none, the window opens when the steps are steady
  std::int64_t leaves_ns = 0;  // not before: the others still measure
};

// What a loader's queue gave to a window, or took from it. A queue that fills or empties makes the
// device look slower or faster than the pipeline is: its steps are perfectly steady while it lives
// on stock.
class QueueBalance {
 public:
  // A window begins, or a part of one. `produced`: samples made so far (-1: nothing is produced, as
  // with synthetic batches), `consumed`: samples taken so far.
  void open(std::int64_t produced, std::int64_t consumed);
  // The part ends; another one may be opened.
  void close(std::int64_t produced, std::int64_t consumed);
  // Share of the samples taken in the window so far that came out of the queue's stock (negative:
  // went into it). 0 before the first window.
  double drawn(std::int64_t produced, std::int64_t consumed) const;

 private:
  bool is_open_ = false;
  std::int64_t produced_at_start_ = -1, consumed_at_start_ = 0;
  double made_ = 0, taken_ = 0;  // in the parts that are closed
};

// Queues are at rest if the share that was drawn from any of them, or went into it, is at most
// this. A window of twice its least length may end at kNearRest.
inline constexpr double kAtRest = 0.005, kNearRest = 0.01;

// A cold pass has no data to spare: its warm-up is so long, for the device's own first-time work.
inline constexpr int kColdWarmupSteps = 2;

// `staying`: the window has ended, the run goes on for the others' sake.
enum class Phase { warming, measuring, staying, done };

// Decides when the warm-up is over and when enough has been measured. A pure state machine over the
// steps' times, so that it is tested without a clock.
//
// A window is not over before the queues are at rest, which bounds the error of what they gave or
// took, however deep they are. A window that has grown to twice its length without coming to rest
// is thrown away as warm-up, and a new one begun.
class Window {
 public:
  // `pass_steps`: the steps of one pass over the data for a cold cell, which keeps no appointment;
  // else 0.
  Window(const RunLimits& limits, std::int64_t pass_steps, SharedWindow appointment = {});

  // `steps`: all steps that ended so far. `drawn`: of the queue that is least at rest since the
  // window was opened, see QueueBalance. `all_made`: nothing of a cold pass is left to load.
  Phase update(std::span<const device::StepRecord> steps, double drawn, bool all_made = false);

  // Steps before this one are none of those that must be steady. The warm-up ends after
  // `most_seconds`, if that is sooner than the limits say.
  void warm_up_from(std::size_t step, double most_seconds) {
    warm_from_ = step;
    most_warmup_s_ = most_seconds;
  }

  // The window is over, whatever it lacks. `steps` as for update(); one of the window at least.
  void close(std::span<const device::StepRecord> steps);

  // Changes whenever the window opens, is begun anew, or ends, and when the run is done: kEnded or
  // more once the window has ended, kDone at last. Ranks take rank 0's, so that all of them open
  // and end the same window.
  static constexpr std::int64_t kDone = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kEnded = kDone - 1;
  std::int64_t mark() const;
  std::size_t first_step() const { return first_; }  // of the window: steps before it are warm-up
  std::size_t last_step() const { return last_; }    // one past the window's last
  bool is_over() const { return phase_ == Phase::staying || phase_ == Phase::done; }
  // Estimate of what an open window still needs, at the pace of its steps so far, in seconds; < 0
  // where nobody knows: no window is open, or it lasts until the queues are at rest.
  double seconds_left(std::span<const device::StepRecord> steps) const;
  bool steady() const { return steady_; }  // the warm-up ended because the steps were steady

 private:
  bool warm(std::span<const device::StepRecord> steps);
  bool keeps_appointment(std::span<const device::StepRecord> steps);
  bool stays(std::span<const device::StepRecord> steps) const;
  bool enough(std::span<const device::StepRecord> steps, double drawn, bool all_made) const;
  bool is_as_long_as(std::span<const device::StepRecord> steps, int times) const;
  bool may_begin_anew(std::span<const device::StepRecord> steps) const;
  void open(std::span<const device::StepRecord> steps);
  double elapsed(std::span<const device::StepRecord> steps, std::size_t since) const;

  const RunLimits limits_;
  const std::int64_t pass_steps_;
  const SharedWindow appointment_;
  Phase phase_ = Phase::warming;
  std::size_t first_ = 0, last_ = 0, next_check_ = 16;
  std::size_t warm_from_ = 0;
  double most_warmup_s_ = std::numeric_limits<double>::infinity();
  std::size_t first_opened_ = 0;  // where the first window began
  std::int64_t windows_ = 0;      // opened so far
  bool steady_ = false;
};

// Times from the end of the step before to the end of each step of steps[first, last), in seconds;
// first >= 1. Their sum is the window's wall time.
std::vector<double> step_durations(std::span<const device::StepRecord> steps, std::size_t first,
                                   std::size_t last);

}  // namespace feedrate::run
