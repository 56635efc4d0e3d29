#include "measure/host_monitor.h"

#include "measure/periodic.h"

namespace feedrate::measure {

HostMonitor::HostMonitor(std::int64_t period_ns)
    : thread_(every(period_ns, [this] {
        const HostCounters now = read_host_counters();
        const std::lock_guard lock(mutex_);
        readings_.push_back(now);
      })) {}

std::vector<HostSample> HostMonitor::between(std::int64_t from_ns, std::int64_t to_ns) const {
  const std::lock_guard lock(mutex_);
  std::vector<HostSample> some;
  for (std::size_t i = 1; i < readings_.size(); ++i) {
    if (readings_[i - 1].at_ns < from_ns || readings_[i].at_ns > to_ns) continue;
    some.push_back({readings_[i].at_ns, host_use(readings_[i - 1], readings_[i])});
  }
  return some;
}

}  // namespace feedrate::measure
