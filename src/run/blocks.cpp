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
  if (steps.size() - since_ < least) return;
  const std::size_t from = since_ + (measures ? 0 : plan_.settling_steps - 1);
  const double lasted =
      measure::seconds(steps.back().end_ns - steps[from == 0 ? 0 : from - 1].end_ns);
  if (lasted < least_s) return;
  if (!measures && !is_quiet && lasted < kLongestSettling) return;
  ++mark_;
  since_ = steps.size();
}

bool BlockSchedule::is_over() const {
  return mark_ % kAnew > 2 * static_cast<std::int64_t>(plan_.blocks.size());
}

}  // namespace feedrate::run
