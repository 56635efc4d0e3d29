#pragma once
#include <mutex>
#include <thread>
#include <vector>

#include "measure/host_counters.h"

namespace feedrate::measure {

// What happened on the machine in the time before `at_ns` (now_ns()), since the reading before.
struct HostSample {
  std::int64_t at_ns = 0;
  HostUse use;
};

// Reads the machine's counters once a second, on a thread of its own. Thread-safe.
class HostMonitor {
 public:
  explicit HostMonitor(std::int64_t period_ns = 1'000'000'000);

  // Samples whose whole time lies between the two moments.
  std::vector<HostSample> between(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  mutable std::mutex mutex_;
  std::vector<HostCounters> readings_;
  std::jthread thread_;
};

}  // namespace feedrate::measure
