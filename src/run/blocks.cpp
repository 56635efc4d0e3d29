#include "run/blocks.h"

#include <algorithm>
#include <cmath>

#include "measure/clock.h"

namespace feedrate::run {
void BlockSchedule::begin(std::span<const device::StepRecord> steps) {
  mark_ = 1;
  begin_mark(steps.size());
}

void BlockSchedule::begin_anew() {
  mark_ += kAnew;
  times_longer_ *= 2;
  begin_mark(since_);
}

double BlockSchedule::least_seconds() const {
  const double seconds = static_cast<double>(times_longer_) * plan_.seconds * block().length;
  return is_measured(mark_)
             ? seconds
             : std::min(std::max(kSettlingShare * seconds, block().settling_s), most_settling_s_);
}

void BlockSchedule::begin_mark(std::size_t steps) {
  since_ = counted_ = steps;
  worked_s_ = 0;
  needed_ = 0;
  if (!plan_.in_pairs || is_over() || pace().steps == 0) return;
  const double step_s = pace().seconds / static_cast<double>(pace().steps);
  // More than anybody waits for, where the clock is coarser than a step.
  const double count = std::clamp(std::ceil(least_seconds() / std::max(step_s, 1e-9)), 1.0, 1e9);
  needed_ = is_measured(mark_) ? steps_of_block(count)
                               : plan_.settling_steps - 1 + static_cast<std::size_t>(count);
}

// `count`: what the time asks for.
std::size_t BlockSchedule::steps_of_block(double count) const {
  const double least = static_cast<double>(times_longer_ * least_steps_);
  // Steps of seconds have too little time for a rhythm, or for longer blocks: see shortest_of().
  if (least_steps_ < static_cast<std::size_t>(plan_.least_steps))
    return static_cast<std::size_t>(least);
  const double rhythm = plan_.rhythm;
  const double rhythms = std::round(block().jitter * std::max(least, count) / rhythm);
  return static_cast<std::size_t>(rhythm * std::max(1.0, rhythms));
}

bool BlockSchedule::is_long_enough(std::size_t steps, double seconds) const {
  if (needed_ > 0) return steps >= needed_;
  const std::size_t least =
      is_measured(mark_) ? times_longer_ * least_steps_ : plan_.settling_steps;
  return steps >= least && seconds >= least_seconds();
}

bool BlockSchedule::is_far_slower(double worked_s) const {
  const double fastest = fastest_[kind()] > 0 ? fastest_[kind()] : fastest_[1 - kind()];
  return plan_.may_end_early && fastest > 0 && worked_s > kFarSlower * fastest;
}

void BlockSchedule::update(std::span<const device::StepRecord> steps, bool is_quiet) {
  if (mark_ == 0 || is_over() || steps.size() == since_) return;
  const bool measures = is_measured(mark_);
  const std::size_t in_work = measures ? 0 : plan_.settling_steps - 1;
  if (steps.size() - since_ <= in_work) return;
  const std::size_t from = since_ + in_work;
  const double lasted =
      measure::seconds(steps.back().end_ns - steps[from == 0 ? 0 : from - 1].end_ns);
  for (; counted_ < steps.size(); ++counted_)
    worked_s_ += measure::seconds(steps[counted_].end_ns - steps[counted_].start_ns);
  const std::size_t count = steps.size() - from;
  const double worked = worked_s_ / static_cast<double>(count);
  if (!is_long_enough(steps.size() - since_, lasted) && !(measures && is_far_slower(worked)))
    return;
  if (!measures && !is_quiet && lasted < kLongestSettling) return;
  pace().steps += count, pace().seconds += lasted;
  double& fastest = fastest_[kind()];
  if (measures && (fastest == 0 || worked < fastest)) fastest = worked;
  ++mark_;
  begin_mark(steps.size());
}

bool BlockSchedule::is_over() const {
  return mark_ % kAnew > 2 * static_cast<std::int64_t>(plan_.blocks.size());
}

}  // namespace feedrate::run
