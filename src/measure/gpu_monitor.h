#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "measure/nvml.h"

namespace feedrate::measure {

struct GpuSample {
  std::int64_t at_ns = 0;  // now_ns()
  GpuState state;
};

// Looks at a GPU twice a second, on a thread of its own. Where there is
// nothing to look at it does nothing. Thread-safe.
class GpuMonitor {
 public:
  // `pci_address`: empty for a device that is no GPU.
  explicit GpuMonitor(const std::string& pci_address, std::int64_t period_ns = 500'000'000);

  const std::string& problem() const {
    return problem_;
  }  // why there are no samples; empty: there are some, or the device is no GPU
  std::vector<GpuSample> between(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  std::string problem_;
  std::unique_ptr<NvmlGpu> gpu_;
  mutable std::mutex mutex_;
  std::vector<GpuSample> samples_;
  std::jthread thread_;
};

}  // namespace feedrate::measure
