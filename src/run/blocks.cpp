#include "run/blocks.h"

#include <algorithm>

#include "measure/clock.h"

namespace feedrate::run {

void BlockSchedule::begin(std::span<const device::StepRecord> steps) {
  mark_ = 1;
  since_ = steps.size();
}

void BlockSchedule::update(std::span<const device::StepRecord> steps, bool is_quiet) {
  if (mark_ == 0 || is_over() || steps.size() == since_) return;
  const bool measures = is_measured(mark_);
  const Block& block = plan_.blocks[block_of(mark_)];
  const double seconds = static_cast<double>(times_longer_) * plan_.seconds * block.length;
  const std::size_t least = measures ? times_longer_ * least_steps_ : plan_.settling_steps;
  const double least_s = measures ? seconds : std::max(kSettlingShare * seconds, block.settling_s);
  const std::size_t count = steps.size() - since_;
  if (!measures && count < least) return;
  const std::size_t from = since_ + (measures ? 0 : plan_.settling_steps - 1);
  const double lasted =
      measure::seconds(steps.back().end_ns - steps[from == 0 ? 0 : from - 1].end_ns);
  if (lasted < least_s) return;
  if (count < least && !is_far_slower(block.is_ceiling, count, lasted)) return;
  if (!measures && !is_quiet && lasted < kLongestSettling) return;
  if (measures) {
    double& fastest = fastest_[block.is_ceiling ? 1 : 0];
    const double step_s = lasted / static_cast<double>(count);
    if (fastest == 0 || step_s < fastest) fastest = step_s;
  }
  ++mark_;
  since_ = steps.size();
}

bool BlockSchedule::is_far_slower(bool is_ceiling, std::size_t steps, double seconds) const {
  const double usual = fastest_[is_ceiling ? 1 : 0] * static_cast<double>(steps);
  return plan_.in_pairs && usual > 0 && seconds > kFarSlower * usual;
}

bool BlockSchedule::is_over() const {
  return mark_ % kAnew > 2 * static_cast<std::int64_t>(plan_.blocks.size());
}

}  // namespace feedrate::run
