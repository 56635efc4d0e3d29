#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "device/accelerator.h"
#include "train/precision.h"

namespace feedrate::train {

struct CudaDevice {
  int index = 0;
  std::string name;
  int capability = 0;  // 10 * major + minor
  std::size_t memory_bytes = 0;
};

// GPUs that this process can use; 0 where there is no driver.
int cuda_device_count() noexcept;

// What trains: "LibTorch 2.11.0, CUDA 13.0, driver for CUDA 13.0".
std::string cuda_software();

// What a qualification of it holds for: "NVIDIA H100 80GB HBM3, 81,559 MiB, LibTorch 2.11.0, CUDA
// 13.0, driver 580.65.06".
std::string cuda_identity(const CudaDevice& device);

// What mixed precision is on it: "bf16", or "fp16" before Ampere.
std::string best_precision(const CudaDevice& device);

// "0000:1B:00.0"; empty if unknown.
std::string cuda_pci_address(int index);

// The GPU of `cuda:ARGUMENT`, or number `otherwise` if the argument is empty. Errors: UsageError if
// the argument is not a number; Error saying what is missing: driver, a newer driver, the device.
CudaDevice cuda_device(std::string_view argument, int otherwise);

// The precision of that name on that GPU. Errors: UsageError, also for bf16 and tf32 before Ampere,
// which would run them in other arithmetic than they say.
Precision cuda_precision(std::string_view name, const CudaDevice& device);

// Sets how the whole process computes. fp32 means fp32: LibTorch's default lets cuDNN round to
// tf32.
void set_cuda_flags(Precision precision, const device::StepOptions& options);

}  // namespace feedrate::train
