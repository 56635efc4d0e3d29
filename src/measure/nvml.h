#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace feedrate::measure {

// What NVIDIA's management library says of a GPU at one moment; -1 where it does not say.
struct GpuState {
  int utilisation_percent =
      -1;  // of the time, a kernel ran (over the driver's last sampling period)
  int memory_utilisation_percent = -1;  // of the time, memory was read or written
  int sm_mhz = -1, memory_mhz = -1;
  double power_w = -1, power_limit_w = -1;  // what it draws, and what it may draw now
  int temperature_c = -1;
  double memory_used_mb = -1;
  double pcie_rx_mb_s = -1, pcie_tx_mb_s = -1;  // to and from the GPU, over 20 ms
  int compute_processes = -1;                   // that hold a context on it, this one included
  std::uint64_t throttle_reasons = 0;           // bits of nvmlClocksThrottleReasons
};

// Reasons for which a GPU lowers its clocks (nvml.h, nvmlClocksThrottleReason*).
inline constexpr std::uint64_t kThrottlePowerCap = 0x4;  // its power limit
inline constexpr std::uint64_t kThrottleHardware =
    0x8;  // too hot, or too little power from outside
inline constexpr std::uint64_t kThrottleThermal = 0x20;     // software keeps it cool
inline constexpr std::uint64_t kThrottleHot = 0x40;         // hardware keeps it cool
inline constexpr std::uint64_t kThrottlePowerBrake = 0x80;  // the machine asks for less
// "power cap, thermal slowdown"; empty where the clocks are as they should be. Idling counts as
// that.
std::string throttle_text(std::uint64_t reasons);
// The reasons that such a text names.
std::uint64_t throttle_reasons(std::string_view text);

// One GPU, by its PCI address ("0000:1B:00.0"). Not for several threads at once.
class NvmlGpu {
 public:
  virtual ~NvmlGpu() = default;
  virtual GpuState state() = 0;  // takes about 40 ms, most of it for PCIe's throughput
};

// Null where there is no such library or no such GPU; `problem` then says why. The library
// (libnvidia-ml.so.1) comes with the driver and is looked for where the loader looks.
std::unique_ptr<NvmlGpu> open_nvml(const std::string& pci_address, std::string& problem);

}  // namespace feedrate::measure
