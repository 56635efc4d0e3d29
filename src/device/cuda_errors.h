#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

// What keeps a machine's GPUs from being used, in one line with its remedy. Free of CUDA, so that
// all of it can be shown where there is none. Versions as CUDA has them: 13000 is 13.0.
namespace feedrate::device {

// "13.0".
std::string cuda_version_text(int version);

// The oldest driver for that CUDA, by its first number, as NVIDIA's release notes have it (CUDA
// Toolkit Release Notes, "CUDA Driver", minor-version compatibility): 580 for 13.
int least_cuda_driver(int version);

// What the CUDA runtime says where it shows no device.
struct NoCudaDevice {
  int driver_knows = 0;  // the CUDA version; 0: there is no driver
  int built_for = 0;
  bool is_driver_too_old = false;
  std::string reason{};  // in the runtime's words; empty: it shows none
};
Error error_of(const NoCudaDevice& none);

// A GPU of `capability` (75 is 7.5) for which CUDA `built_for` has no code.
Error too_old_gpu(const std::string& name, int capability, int built_for);
// By CUDA: 75 for 13.
int least_capability(int built_for);

// What a message of CUDA says of the GPU itself: an ECC error, one that another program has for
// itself, a kernel that there is no code for. An empty reason where it says none.
struct GpuFault {
  std::string_view reason, remedy;
};
GpuFault gpu_fault(std::string_view message);

}  // namespace feedrate::device
