#pragma once
#include <cstdint>
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

// A queue is at rest if what was drawn from it, or piled up in it, is at most this share of the
// window's samples.
inline constexpr double kAtRest = 0.01;

enum class Phase { warming, measuring, done };

// Decides when the warm-up is over and when enough has been measured. A pure state machine over the
// steps' times, so that it is tested without a clock.
//
// A queue that fills or empties during the window makes the device look slower or faster than the
// pipeline is: its steps are perfectly steady while it lives on stock. So a window is not over
// before the samples consumed in it and those produced in it differ by less than 1 %, which bounds
// that error whatever the queue's depth. A window that has grown to twice its length without coming
// to rest is thrown away as warm-up, and a new one begun.
class Window {
 public:
  // `pass_steps`: the steps of one pass over the data for a cold cell, else 0.
  Window(const RunLimits& limits, std::int64_t pass_steps);

  // `steps`: all steps that ended so far. `produced`: samples made so far (-1: nothing is produced,
  // as with synthetic batches), `consumed`: samples taken so far.
  Phase update(std::span<const device::StepRecord> steps, std::int64_t produced,
               std::int64_t consumed);

  // Changes whenever the window opens, is begun anew, or ends; the largest possible number once it
  // has ended. Ranks take rank 0's, so that all of them open and end the same window.
  std::int64_t mark() const;
  std::size_t first_step() const { return first_; }  // of the window: steps before it are warm-up
  std::size_t last_step() const { return last_; }    // one past the window's last
  bool steady() const { return steady_; }  // the warm-up ended because the steps were steady
  // Share of the window's images that came out of the queue's stock (negative: went into it).
  double drawn_from_queue() const { return drawn_; }

 private:
  bool warm(std::span<const device::StepRecord> steps);
  bool enough(std::span<const device::StepRecord> steps);
  bool may_begin_anew(std::span<const device::StepRecord> steps) const;
  void open(std::span<const device::StepRecord> steps, std::int64_t produced,
            std::int64_t consumed);
  double elapsed(std::span<const device::StepRecord> steps, std::size_t since) const;

  const RunLimits limits_;
  const std::int64_t pass_steps_;
  Phase phase_ = Phase::warming;
  std::size_t first_ = 0, last_ = 0, next_check_ = 16;
  std::size_t first_opened_ = 0;  // where the first window began
  std::int64_t windows_ = 0;      // opened so far
  std::int64_t produced_at_start_ = 0, consumed_at_start_ = 0;
  bool steady_ = false;
  double drawn_ = 0;
};

// Times from the end of the step before to the end of each step of steps[first, last), in seconds;
// first >= 1. Their sum is the window's wall time.
std::vector<double> step_durations(std::span<const device::StepRecord> steps, std::size_t first,
                                   std::size_t last);

}  // namespace feedrate::run
