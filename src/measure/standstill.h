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
    // The most that the hypervisor took of one CPU since the last beat, or a little longer: a
    // thread whose CPU it took is not ready either. 0 where nobody counts.
    std::int64_t stolen_ns = 0;
    // Of the heart so far, pages that it had to wait for, as where memory is short.
    std::int64_t page_waits = 0;
  };
  // `cpus`: that the process may use: it may compute on all of them until it stops.
  StandstillFinder(std::int64_t period_ns, int cpus) : period_ns_(period_ns), cpus_(cpus) {}

  void beat(const Beat& now);
  // Within [from_ns, to_ns] of CLOCK_MONOTONIC. Short stops count where there are several, and they
  // are a part of the time that nothing else explains: a CPU limiter stops a process 50 ms long ten
  // times a second. That part is larger for a process that hardly uses a CPU.
  Standstills between(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  enum class Kind : std::uint8_t { plain, brief, unsure };  // brief ones, and those of a slow pace
  struct Gap {
    std::int64_t from_ns, to_ns, suspended_ns;
    Kind kind;
  };
  bool is_unsure() const;
  bool is_short_stop(const Beat& before, const Beat& now) const;
  void keep_pace(double cpus);

  const std::int64_t period_ns_;
  const int cpus_;
  Beat last_;
  bool has_beaten_ = false;
  double pace_ = -1;  // CPUs that the process uses while the heart beats in time; -1: not yet known
  std::vector<Gap> gaps_;
};

// Such a heart, on a thread of its own. A read that hangs does not stop it, and neither do threads
// that leave it no CPU for a moment. A beat takes some microseconds. Thread-safe.
class StandstillMonitor {
 public:
  explicit StandstillMonitor(std::int64_t period_ns = 10'000'000);
  // Until now at most.
  Standstills between(std::int64_t from_ns, std::int64_t to_ns);

 private:
  void beat();
  std::int64_t stolen_ns(std::int64_t now_ns);

  std::mutex mutex_;
  const std::int64_t period_ns_;
  StandstillFinder finder_;
  std::optional<CpuWait> cpu_wait_;   // of the heart
  std::int64_t page_waits_ = 0;       // of the heart
  std::int64_t beat_ns_ = 0;          // when it beat last
  std::vector<std::int64_t> stolen_;  // of each CPU, as it was last looked at, and when that was
  std::int64_t stolen_at_ns_ = 0;
  std::jthread heart_;
};

}  // namespace feedrate::measure
