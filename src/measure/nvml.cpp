#include "measure/nvml.h"

#include <dlfcn.h>

#include <vector>

#include "base/text.h"

namespace feedrate::measure {
namespace {

// NVML's interface, as far as it is used here: NVIDIA Management Library API Reference. Versioned
// names never change.
using Device = struct nvmlDevice_st*;
struct Utilisation {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
enum Clock : unsigned { kClockSm = 1, kClockMemory = 2 };
constexpr unsigned kTemperatureOfGpu = 0, kPcieTx = 0, kPcieRx = 1;

struct Library {
  int (*init)();
  const char* (*error_string)(int);
  int (*handle_by_pci)(const char*, Device*);
  int (*utilisation)(Device, Utilisation*);
  int (*clock)(Device, unsigned, unsigned*);
  int (*power)(Device, unsigned*);
  int (*temperature)(Device, unsigned, unsigned*);
  int (*memory)(Device, Memory*);
  int (*pcie)(Device, unsigned, unsigned*);
  int (*throttle_reasons)(Device, unsigned long long*);
  int (*power_limit)(Device, unsigned*);
  // (GPU, room in the list and then how many there are, list); null: a driver older than 510.
  int (*compute_processes)(Device, unsigned*, void*);
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load(Library& nvml, std::string& problem) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed: the driver's
  if (!library) {
    problem =
        "libnvidia-ml.so.1 is not there: no NVIDIA driver, or a container without its `utility` "
        "capability";
    return false;
  }
  const bool whole =
      find(library, "nvmlInit_v2", nvml.init) &&
      find(library, "nvmlErrorString", nvml.error_string) &&
      find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.handle_by_pci) &&
      find(library, "nvmlDeviceGetUtilizationRates", nvml.utilisation) &&
      find(library, "nvmlDeviceGetClockInfo", nvml.clock) &&
      find(library, "nvmlDeviceGetPowerUsage", nvml.power) &&
      find(library, "nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit) &&
      find(library, "nvmlDeviceGetTemperature", nvml.temperature) &&
      find(library, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
      find(library, "nvmlDeviceGetPcieThroughput", nvml.pcie) &&
      find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons);
  find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.compute_processes);
  if (!whole) problem = "libnvidia-ml.so.1 lacks functions: a driver that is too old";
  return whole;
}

class Gpu : public NvmlGpu {
 public:
  Gpu(const Library& nvml, Device device) : nvml_(nvml), device_(device) {}

  GpuState state() override {
    GpuState s;
    Utilisation use{};
    if (nvml_.utilisation(device_, &use) == 0)
      s.utilisation_percent = static_cast<int>(use.gpu),
      s.memory_utilisation_percent = static_cast<int>(use.memory);
    s.sm_mhz =
        static_cast<int>(number([&](unsigned* v) { return nvml_.clock(device_, kClockSm, v); }));
    s.memory_mhz = static_cast<int>(
        number([&](unsigned* v) { return nvml_.clock(device_, kClockMemory, v); }));
    s.power_w = in_thousands([&](unsigned* v) { return nvml_.power(device_, v); });
    s.power_limit_w = in_thousands([&](unsigned* v) { return nvml_.power_limit(device_, v); });
    s.temperature_c = static_cast<int>(
        number([&](unsigned* v) { return nvml_.temperature(device_, kTemperatureOfGpu, v); }));
    Memory memory{};
    if (nvml_.memory(device_, &memory) == 0)
      s.memory_used_mb = static_cast<double>(memory.used) / 1e6;
    s.pcie_rx_mb_s = in_thousands([&](unsigned* v) { return nvml_.pcie(device_, kPcieRx, v); });
    s.pcie_tx_mb_s = in_thousands([&](unsigned* v) { return nvml_.pcie(device_, kPcieTx, v); });
    s.compute_processes = compute_processes();
    unsigned long long reasons = 0;
    if (nvml_.throttle_reasons(device_, &reasons) == 0) s.throttle_reasons = reasons;
    return s;
  }

 private:
  // Their number alone: a list without room is refused and counted.
  int compute_processes() const {
    constexpr int kTooSmall = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
    unsigned count = 0;
    const int status =
        nvml_.compute_processes ? nvml_.compute_processes(device_, &count, nullptr) : -1;
    return status == 0 || status == kTooSmall ? static_cast<int>(count) : -1;
  }
  template <typename Ask>
  static double number(const Ask& ask) {
    unsigned value = 0;
    return ask(&value) == 0 ? value : -1.0;
  }
  template <typename Ask>
  static double in_thousands(const Ask& ask) {
    const double value = number(ask);
    return value < 0 ? value : value / 1e3;
  }
  const Library nvml_;
  const Device device_;
};

struct Reason {
  std::uint64_t bit;
  const char* name;
};
constexpr Reason kReasons[] = {{kThrottlePowerCap, "power cap"},
                               {kThrottleHardware, "hardware slowdown"},
                               {kThrottleThermal, "software thermal slowdown"},
                               {kThrottleHot, "hardware thermal slowdown"},
                               {kThrottlePowerBrake, "power brake"}};

}  // namespace

std::string throttle_text(std::uint64_t reasons) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) names.emplace_back(name);
  }
  return listed(names);
}

std::uint64_t throttle_reasons(std::string_view text) {
  std::uint64_t reasons = 0;
  for (const auto& [bit, name] : kReasons) {
    if (text.find(name) != std::string_view::npos) reasons |= bit;  // none is part of another
  }
  return reasons;
}

std::unique_ptr<NvmlGpu> open_nvml(const std::string& pci_address, std::string& problem) {
  Library nvml{};
  if (!load(nvml, problem)) return nullptr;
  Device device = nullptr;
  int status = nvml.init();  // counted by the library; ended with the process
  if (status == 0) status = nvml.handle_by_pci(pci_address.c_str(), &device);
  if (status == 0) return std::make_unique<Gpu>(nvml, device);
  problem = std::string("NVML: ") + nvml.error_string(status) + " (" + pci_address + ")";
  return nullptr;
}

}  // namespace feedrate::measure
