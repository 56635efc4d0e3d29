#include "measure/standstill.h"

#include <algorithm>
#include <utility>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/periodic.h"

namespace feedrate::measure {
namespace {

constexpr std::int64_t kLate = 100'000'000;   // ns: less is a heart that had to wait for a CPU
constexpr std::int64_t kAsleep = 10'000'000;  // ns: less is the grain of the clocks
constexpr double kIdle = 0.05;                // share of a late beat's time with CPU time
constexpr std::size_t kMostGaps = 100'000;

struct Moment {
  std::int64_t monotonic_ns = 0, boottime_ns = 0;
};

// Both clocks at one moment. A thread that loses its CPU between the two reads would see the
// machine sleep: they are read again until they lie close together.
Moment moment() {
  constexpr std::int64_t kClose = 1'000'000;
  for (int left = 100;; --left) {
    const std::int64_t before = now_ns(), boottime = clock_ns(CLOCK_BOOTTIME);
    if (now_ns() - before < kClose || left == 0) return {before, boottime};
  }
}

}  // namespace

void StandstillFinder::beat(const Beat& now) {
  const Beat before = last_;
  last_ = now;
  if (!has_beaten_) {
    has_beaten_ = true;
    return;
  }
  const std::int64_t passed = now.monotonic_ns - before.monotonic_ns;
  const std::int64_t waited = now.cpu_wait_ns - before.cpu_wait_ns;
  const std::int64_t asleep = now.boottime_ns - before.boottime_ns - passed;
  // Before it stopped, each CPU may have worked for a period.
  const double most_cpu_ns =
      kIdle * static_cast<double>(passed) + static_cast<double>(cpus_ * period_ns_);
  const bool stopped =
      passed - waited > period_ns_ + kLate &&
      static_cast<double>(now.process_cpu_ns - before.process_cpu_ns) < most_cpu_ns;
  if ((!stopped && asleep < kAsleep) || gaps_.size() == kMostGaps) return;
  const std::int64_t from = stopped ? before.monotonic_ns + period_ns_ : now.monotonic_ns;
  gaps_.push_back({from, now.monotonic_ns, asleep < kAsleep ? 0 : asleep});
}

Standstills StandstillFinder::between(std::int64_t from_ns, std::int64_t to_ns) const {
  Standstills all;
  for (const Gap& gap : gaps_) {
    if (gap.to_ns < from_ns || gap.from_ns > to_ns) continue;
    all.stopped_s += seconds(std::min(gap.to_ns, to_ns) - std::max(gap.from_ns, from_ns));
    all.suspended_s += seconds(gap.suspended_ns);
  }
  return all;
}

StandstillMonitor::StandstillMonitor(std::int64_t period_ns)
    : finder_(period_ns, allowed_cpus()),
      heart_(every(period_ns, [this, is_first = true]() mutable {
        if (std::exchange(is_first, false)) {
          const std::lock_guard lock(mutex_);
          cpu_wait_.emplace();  // of this thread
        }
        beat();
      })) {}

void StandstillMonitor::beat() {
  const std::lock_guard lock(mutex_);
  const Moment now = moment();
  finder_.beat({.monotonic_ns = now.monotonic_ns,
                .boottime_ns = now.boottime_ns,
                .process_cpu_ns = process_cpu_ns(),
                .cpu_wait_ns = cpu_wait_ ? cpu_wait_->ns() : 0});
}

Standstills StandstillMonitor::between(std::int64_t from_ns, std::int64_t to_ns) {
  beat();  // the heart may not have come round since a standstill that has just ended
  const std::lock_guard lock(mutex_);
  return finder_.between(from_ns, to_ns);
}

}  // namespace feedrate::measure
