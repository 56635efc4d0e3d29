#include "run/window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/clock.h"
#include "measure/steady_state.h"

namespace feedrate::run {

std::vector<double> step_durations(std::span<const device::StepRecord> steps, std::size_t first,
                                   std::size_t last) {
  std::vector<double> durations;
  durations.reserve(last - first);
  for (std::size_t i = first; i < last; ++i)
    durations.push_back(measure::seconds(steps[i].end_ns - steps[i - 1].end_ns));
  return durations;
}

Window::Window(const RunLimits& limits, std::int64_t pass_steps, SharedWindow appointment)
    : limits_(limits), pass_steps_(pass_steps), appointment_(appointment) {}

Phase Window::update(std::span<const device::StepRecord> steps, double drawn, bool all_made) {
  if (phase_ == Phase::warming) {
    if (!warm(steps)) return phase_;
    phase_ = Phase::measuring;
    first_opened_ = steps.size();
    open(steps);
  } else if (phase_ == Phase::measuring && steps.size() > first_) {
    if (enough(steps, drawn, all_made)) {
      phase_ = stays(steps) ? Phase::staying : Phase::done;
      last_ = steps.size();
    } else if (may_begin_anew(steps)) {
      open(steps);
    }
  } else if (phase_ == Phase::staying && !stays(steps)) {
    phase_ = Phase::done;
  }
  return phase_;
}

void Window::close(std::span<const device::StepRecord> steps) {
  last_ = steps.size();
  phase_ = Phase::done;
}

std::int64_t Window::mark() const {
  if (phase_ == Phase::done) return kDone;
  return phase_ == Phase::staying ? kEnded : windows_;
}

void Window::open(std::span<const device::StepRecord> steps) {
  first_ = steps.size();
  ++windows_;
}

double Window::elapsed(std::span<const device::StepRecord> steps, std::size_t since) const {
  return measure::seconds(steps.back().end_ns - steps[since - 1].end_ns);
}

bool Window::warm(std::span<const device::StepRecord> all) {
  const auto steps = all.subspan(std::min(warm_from_, all.size()));
  if (pass_steps_ > 0) {
    steady_ = steps.size() >= kColdWarmupSteps;
    return steady_;
  }
  if (steps.size() < 3) return false;
  if (appointment_.opens_ns > 0) return keeps_appointment(steps);
  const double elapsed = measure::seconds(steps.back().end_ns - steps.front().start_ns);
  if (elapsed >= std::min(limits_.max_warmup_seconds, most_warmup_s_)) {
    steady_ = measure::is_steady(step_durations(steps, 1, steps.size()));
    return true;
  }
  if (elapsed < limits_.warmup_seconds || steps.size() < next_check_) return false;
  next_check_ = steps.size() + steps.size() / 8 + 1;  // the cost of a check grows with the steps
  steady_ = measure::is_steady(step_durations(steps, 1, steps.size()));
  return steady_;
}

// The warm-up lasts until then, and no longer. Others may have begun to load after this one: only
// its last half, in time, tells whether steps are steady beside them, if it has enough of them.
bool Window::keeps_appointment(std::span<const device::StepRecord> steps) {
  const std::int64_t from = steps.front().start_ns, now = steps.back().end_ns;
  if (now < appointment_.opens_ns || measure::seconds(now - from) < limits_.warmup_seconds)
    return false;
  const auto half =
      std::ranges::lower_bound(steps, std::midpoint(from, now), {}, &device::StepRecord::end_ns);
  const auto since = std::max<std::size_t>(1, static_cast<std::size_t>(half - steps.begin()));
  const bool tells = steps.size() - since > measure::kSteadyNeeds;
  steady_ = measure::is_steady(step_durations(steps, tells ? since : 1, steps.size()));
  return true;
}

bool Window::stays(std::span<const device::StepRecord> steps) const {
  return steps.back().end_ns < appointment_.leaves_ns;
}

bool Window::is_as_long_as(std::span<const device::StepRecord> steps, int times) const {
  return static_cast<int>(steps.size() - first_) >= times * limits_.min_steps &&
         elapsed(steps, first_) >= times * limits_.min_seconds;
}

// Only where a whole window still fits: a cold pass has no data to throw away, and what is left
// before --max-seconds must not become the measurement.
bool Window::may_begin_anew(std::span<const device::StepRecord> steps) const {
  return pass_steps_ == 0 && is_as_long_as(steps, 2) &&
         elapsed(steps, first_opened_) + elapsed(steps, first_) <= limits_.max_seconds;
}

bool Window::enough(std::span<const device::StepRecord> steps, double drawn, bool all_made) const {
  if (pass_steps_ > 0 && static_cast<std::int64_t>(steps.size()) + 2 >= pass_steps_) return true;
  // The steps that are left take what lies in the queues: a window with them would be of that, too,
  // and a short one is flagged.
  if (pass_steps_ > 0 && all_made) return true;
  if (elapsed(steps, first_opened_) >= limits_.max_seconds) return true;
  if (pass_steps_ > 0) return false;  // the whole pass, once
  const double at_most = is_as_long_as(steps, 2) ? kNearRest : kAtRest;
  return is_as_long_as(steps, 1) && std::abs(drawn) <= at_most;
}

double Window::seconds_left(std::span<const device::StepRecord> steps) const {
  if (phase_ != Phase::measuring || steps.size() <= first_) return -1;
  const auto done = static_cast<double>(steps.size() - first_);
  const double lasted = elapsed(steps, first_), step = lasted / done;
  const double left =
      pass_steps_ > 0
          ? static_cast<double>(pass_steps_ - static_cast<std::int64_t>(steps.size())) * step
          : std::max(limits_.min_seconds - lasted, (limits_.min_steps - done) * step);
  const double most = limits_.max_seconds - elapsed(steps, first_opened_);
  return left > 0 ? std::clamp(most, 0.0, left) : -1;
}

void QueueBalance::open(std::int64_t produced, std::int64_t consumed) {
  is_open_ = true;
  produced_at_start_ = produced;
  consumed_at_start_ = consumed;
}

void QueueBalance::close(std::int64_t produced, std::int64_t consumed) {
  if (!is_open_) return;
  is_open_ = false;
  made_ += static_cast<double>(produced - produced_at_start_);
  taken_ += static_cast<double>(consumed - consumed_at_start_);
}

double QueueBalance::drawn(std::int64_t produced, std::int64_t consumed) const {
  if (produced_at_start_ < 0 || produced < 0) return 0;
  const double made = made_ + (is_open_ ? static_cast<double>(produced - produced_at_start_) : 0);
  const double taken = taken_ + (is_open_ ? static_cast<double>(consumed - consumed_at_start_) : 0);
  return taken <= 0 ? 0 : (taken - made) / taken;
}

}  // namespace feedrate::run
