// The driver's management library, as far as feedrate asks it: a calm GPU at 0000:01:00.0, one that
// is too hot at 0000:02:00.0 and says little else, and no other.
#include <cstring>

extern "C" {

struct nvmlDevice_st {
  bool hot;
};
using Device = nvmlDevice_st*;

int nvmlInit_v2() { return 0; }
const char* nvmlErrorString(int) { return "Not Found"; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, Device* device) {
  static nvmlDevice_st calm{false}, hot{true};
  if (std::strcmp(address, "0000:01:00.0") == 0) return *device = &calm, 0;
  if (std::strcmp(address, "0000:02:00.0") == 0) return *device = &hot, 0;
  return 6;  // NVML_ERROR_NOT_FOUND
}
int nvmlDeviceGetUtilizationRates(Device device, unsigned* rates) {
  if (device->hot) return 3;  // NVML_ERROR_NOT_SUPPORTED
  return rates[0] = 97, rates[1] = 41, 0;
}
int nvmlDeviceGetClockInfo(Device device, unsigned clock, unsigned* mhz) {
  return *mhz = clock == 1 ? (device->hot ? 1200 : 1980) : 3201, 0;
}
int nvmlDeviceGetPowerUsage(Device, unsigned* mw) { return *mw = 612345, 0; }
int nvmlDeviceGetEnforcedPowerLimit(Device device, unsigned* mw) {
  if (device->hot) return 3;  // NVML_ERROR_NOT_SUPPORTED
  return *mw = 700000, 0;
}
int nvmlDeviceGetTemperature(Device device, unsigned, unsigned* celsius) {
  return *celsius = device->hot ? 91 : 55, 0;
}
int nvmlDeviceGetMemoryInfo(Device, unsigned long long* bytes) {
  return bytes[0] = 150000000000, bytes[1] = 100000000000, bytes[2] = 50000000000, 0;
}
int nvmlDeviceGetPcieThroughput(Device, unsigned direction, unsigned* kb) {
  return *kb = direction == 1 ? 7000000 : 3000, 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void*) {
  if (device->hot) return 3;  // NVML_ERROR_NOT_SUPPORTED
  return *count = 2, 7;       // NVML_ERROR_INSUFFICIENT_SIZE
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return *reasons = device->hot ? 0x44 : 0x1, 0;
}

}  // extern "C"
