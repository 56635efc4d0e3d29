#include "measure/standstill.h"

#include <algorithm>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/periodic.h"

namespace feedrate::measure {
namespace {

constexpr std::int64_t kLate = 100'000'000;   // ns: less is a heart that had to wait for a CPU
constexpr std::int64_t kAsleep = 10'000'000;  // ns: less is the grain of the clocks
constexpr double kIdle = 0.05;                // share of a late beat's time with CPU time
constexpr std::size_t kMostGaps = 100'000;

}  // namespace

void StandstillFinder::beat(const Beat& now) {
  const Beat before = last_;
  last_ = now;
  if (!has_beaten_) {
    has_beaten_ = true;
    return;
  }
  const std::int64_t passed = now.monotonic_ns - before.monotonic_ns;
  const std::int64_t asleep = now.boottime_ns - before.boottime_ns - passed;
  // Before it stopped, each CPU may have worked for a period.
  const double most_cpu_ns =
      kIdle * static_cast<double>(passed) + static_cast<double>(cpus_ * period_ns_);
  const bool stopped =
      passed > period_ns_ + kLate &&
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
    : finder_(period_ns, allowed_cpus()), heart_(every(period_ns, [this] { beat(); })) {}

void StandstillMonitor::beat() {
  const std::lock_guard lock(mutex_);
  finder_.beat({now_ns(), clock_ns(CLOCK_BOOTTIME), process_cpu_ns()});
}

Standstills StandstillMonitor::between(std::int64_t from_ns, std::int64_t to_ns) {
  beat();  // the heart may not have come round since a standstill that has just ended
  const std::lock_guard lock(mutex_);
  return finder_.between(from_ns, to_ns);
}

}  // namespace feedrate::measure
