#include "measure/standstill.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/host_counters.h"
#include "measure/periodic.h"

namespace feedrate::measure {
namespace {

constexpr std::int64_t kLate = 100'000'000;  // ns: less is a heart that had to wait for a CPU
// ns: more than the hypervisor's share is known to, which /proc/stat says in steps of 10 ms.
constexpr std::int64_t kShortlyLate = 15'000'000;
// A single late beat has many causes, and on a virtual machine that is not told what the hypervisor
// takes they come now and then: a limiter stops a process many times, for a good part of the time.
constexpr std::size_t kSeveral = 5;
constexpr double kShareOfSeveral = 0.03;  // of the time that is looked at
// The CPU time of a process that uses less than this says little: within a late beat it uses hardly
// any, stopped or not. A limiter takes half of the time; late beats alone do not.
constexpr double kSlowPace = 0.2;                      // CPUs
constexpr double kShareOfUnsure = 0.1;                 // of the time, with those that are sure
constexpr std::int64_t kLookAtStolen = 1'000'000'000;  // ns: at the latest
constexpr std::int64_t kAsleep = 10'000'000;           // ns: less is the grain of the clocks
constexpr double kIdle = 0.05;                         // share of a late beat's time with CPU time
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

std::int64_t page_waits_of_this_thread() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_majflt : 0;
}

struct ShortStops {
  std::size_t count = 0;
  double all_s = 0;
  void add(double lasted_s) { ++count, all_s += lasted_s; }
  bool are_several(double least_s) const { return count >= kSeveral && all_s >= least_s; }
};

std::int64_t waited_between(const StandstillFinder::Beat& before,
                            const StandstillFinder::Beat& now) {
  return std::max<std::int64_t>(0, now.cpu_wait_ns - before.cpu_wait_ns);
}

}  // namespace

// A CPU limiter's, by SIGSTOP and SIGCONT. What else makes a heart late by so little is left out:
// it waited for a CPU, for a page, or for the hypervisor; and nothing is told where the kernel does
// not count the first. That the process still ran shows in the CPU time that it took, next to what
// it usually takes until a stop begins: a period of its pace, twice that to be sure.
bool StandstillFinder::is_short_stop(const Beat& before, const Beat& now) const {
  const std::int64_t passed = now.monotonic_ns - before.monotonic_ns;
  const std::int64_t waited = waited_between(before, now);
  if (now.cpu_wait_ns == 0 || now.page_waits > before.page_waits || pace_ < 0) return false;
  const double most_cpu_ns =
      kIdle * static_cast<double>(passed) +
      std::min<double>(cpus_, 2 * pace_) * static_cast<double>(period_ns_ + waited);
  return passed - waited - now.stolen_ns > period_ns_ + kShortlyLate &&
         static_cast<double>(now.process_cpu_ns - before.process_cpu_ns) < most_cpu_ns;
}

bool StandstillFinder::is_unsure() const { return pace_ < kSlowPace; }

void StandstillFinder::beat(const Beat& now) {
  const Beat before = last_;
  last_ = now;
  if (!has_beaten_) {
    has_beaten_ = true;
    return;
  }
  const std::int64_t passed = now.monotonic_ns - before.monotonic_ns;
  const std::int64_t waited = waited_between(before, now);
  const std::int64_t asleep = now.boottime_ns - before.boottime_ns - passed;
  // Before it stopped, each CPU may have worked for a period.
  const double most_cpu_ns =
      kIdle * static_cast<double>(passed) + static_cast<double>(cpus_ * period_ns_);
  const auto cpu_ns = static_cast<double>(now.process_cpu_ns - before.process_cpu_ns);
  const bool is_long = passed - waited > period_ns_ + kLate && cpu_ns < most_cpu_ns;
  const bool is_short = !is_long && is_short_stop(before, now);
  const bool stopped = is_long || is_short;
  if (!stopped && passed > 0) keep_pace(cpu_ns / static_cast<double>(passed));
  if ((!stopped && asleep < kAsleep) || gaps_.size() == kMostGaps) return;
  const std::int64_t from = stopped ? before.monotonic_ns + period_ns_ : now.monotonic_ns;
  const Kind kind = !is_short ? Kind::plain : is_unsure() ? Kind::unsure : Kind::brief;
  gaps_.push_back({from, now.monotonic_ns, asleep < kAsleep ? 0 : asleep, kind});
}

// Of the last twenty beats, about.
void StandstillFinder::keep_pace(double cpus) {
  constexpr double kNew = 0.05;
  pace_ = pace_ < 0 ? cpus : pace_ + kNew * (cpus - pace_);
}

Standstills StandstillFinder::between(std::int64_t from_ns, std::int64_t to_ns) const {
  Standstills all;
  ShortStops sure, shorts;
  for (const Gap& gap : gaps_) {
    if (gap.to_ns < from_ns || gap.from_ns > to_ns) continue;
    const double lasted_s = seconds(std::min(gap.to_ns, to_ns) - std::max(gap.from_ns, from_ns));
    all.suspended_s += seconds(gap.suspended_ns);
    if (gap.kind == Kind::plain) all.stopped_s += lasted_s;
    if (gap.kind == Kind::brief) sure.add(lasted_s);
    if (gap.kind != Kind::plain) shorts.add(lasted_s);
  }
  const double window_s = seconds(to_ns - from_ns);
  if (sure.are_several(kShareOfSeveral * window_s) || shorts.are_several(kShareOfUnsure * window_s))
    all.stopped_s += shorts.all_s;
  return all;
}

StandstillMonitor::StandstillMonitor(std::int64_t period_ns)
    : period_ns_(period_ns),
      finder_(period_ns, allowed_cpus()),
      heart_(every(period_ns, [this, is_first = true]() mutable {
        {
          const std::lock_guard lock(mutex_);
          if (std::exchange(is_first, false)) cpu_wait_.emplace();  // of this thread
          page_waits_ = page_waits_of_this_thread();
        }
        beat();
      })) {}

void StandstillMonitor::beat() {
  const std::lock_guard lock(mutex_);
  const Moment now = moment();
  finder_.beat({.monotonic_ns = now.monotonic_ns,
                .boottime_ns = now.boottime_ns,
                .process_cpu_ns = process_cpu_ns(),
                .cpu_wait_ns = cpu_wait_ ? cpu_wait_->ns() : 0,
                .stolen_ns = stolen_ns(now.monotonic_ns),
                .page_waits = page_waits_});
  beat_ns_ = now.monotonic_ns;
}

// The file takes a millisecond where there are hundreds of CPUs: it is read where a beat is late,
// and once a second, so that what such a beat learns is not of long before.
std::int64_t StandstillMonitor::stolen_ns(std::int64_t now_ns) {
  const bool is_late = now_ns - beat_ns_ > period_ns_ + kShortlyLate;
  if (!is_late && now_ns - stolen_at_ns_ < kLookAtStolen) return 0;
  const std::vector<std::int64_t> before = std::exchange(stolen_, read_stolen_ns());
  stolen_at_ns_ = now_ns;
  std::int64_t most = 0;
  for (std::size_t cpu = 0; cpu < std::min(before.size(), stolen_.size()); ++cpu)
    most = std::max(most, stolen_[cpu] - before[cpu]);
  return most;
}

Standstills StandstillMonitor::between(std::int64_t from_ns, std::int64_t to_ns) {
  beat();  // the heart may not have come round since a standstill that has just ended
  const std::lock_guard lock(mutex_);
  return finder_.between(from_ns, to_ns);
}

}  // namespace feedrate::measure
