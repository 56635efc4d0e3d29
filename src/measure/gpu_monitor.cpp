#include "measure/gpu_monitor.h"

#include "measure/clock.h"
#include "measure/periodic.h"

namespace feedrate::measure {

GpuMonitor::GpuMonitor(const std::string& pci_address, std::int64_t period_ns) {
  if (pci_address.empty()) return;
  gpu_ = open_nvml(pci_address, problem_);
  if (!gpu_) return;
  thread_ = every(period_ns, [this] {
    const GpuSample sample{now_ns(), gpu_->state()};
    const std::lock_guard lock(mutex_);
    samples_.push_back(sample);
  });
}

std::vector<GpuSample> GpuMonitor::between(std::int64_t from_ns, std::int64_t to_ns) const {
  const std::lock_guard lock(mutex_);
  std::vector<GpuSample> some;
  for (const GpuSample& s : samples_) {
    if (s.at_ns >= from_ns && s.at_ns <= to_ns) some.push_back(s);
  }
  return some;
}

}  // namespace feedrate::measure
