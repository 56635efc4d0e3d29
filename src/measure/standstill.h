#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "measure/cpu_wait.h"

namespace feedrate::measure {

// How long a process stood still, in seconds.
struct Standstills {
  double stopped_s = 0;    // none of its threads ran or was ready to: stopped (Ctrl-Z), frozen
  double suspended_s = 0;  // the machine slept: CLOCK_MONOTONIC does not count this time
  double all_s() const { return stopped_s + suspended_s; }
};

// What a heart that ought to beat every `period_ns` says of its process. A pure state machine, so
// that it is tested without a clock. Not thread-safe.
class StandstillFinder {
 public:
  struct Beat {
    std::int64_t monotonic_ns = 0, boottime_ns = 0;
    std::int64_t process_cpu_ns = 0;  // of all threads
    // How long the heart stood ready and had no CPU so far: CPUs that others took, or a quota that
    // was used up. A stopped or frozen thread is not ready. 0 where nobody counts.
    std::int64_t cpu_wait_ns = 0;
  };
  // `cpus`: that the process may use: it may compute on all of them until it stops.
  StandstillFinder(std::int64_t period_ns, int cpus) : period_ns_(period_ns), cpus_(cpus) {}

  void beat(const Beat& now);
  // Within [from_ns, to_ns] of CLOCK_MONOTONIC.
  Standstills between(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  struct Gap {
    std::int64_t from_ns, to_ns, suspended_ns;
  };
  const std::int64_t period_ns_;
  const int cpus_;
  Beat last_;
  bool has_beaten_ = false;
  std::vector<Gap> gaps_;
};

// Such a heart, on a thread of its own. A read that hangs does not stop it, and neither do threads
// that leave it no CPU for a moment. Thread-safe.
class StandstillMonitor {
 public:
  explicit StandstillMonitor(std::int64_t period_ns = 20'000'000);
  // Until now at most.
  Standstills between(std::int64_t from_ns, std::int64_t to_ns);

 private:
  void beat();

  std::mutex mutex_;
  StandstillFinder finder_;
  std::optional<CpuWait> cpu_wait_;  // of the heart
  std::jthread heart_;
};

}  // namespace feedrate::measure
