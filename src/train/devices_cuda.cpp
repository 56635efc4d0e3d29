#include "train/devices_cuda.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <cuda_runtime_api.h>
#include <torch/version.h>

#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "device/cuda_errors.h"

namespace feedrate::train {
namespace {

// `status`: what counting the devices said.
[[noreturn]] void refuse_status(cudaError_t status) {
  device::NoCudaDevice none{.built_for = CUDART_VERSION,
                            .is_driver_too_old = status == cudaErrorInsufficientDriver};
  if (cudaDriverGetVersion(&none.driver_knows) != cudaSuccess) none.driver_knows = 0;
  cudaGetLastError();
  if (status != cudaSuccess && status != cudaErrorNoDevice)
    none.reason = cudaGetErrorString(status);
  throw device::error_of(none);
}

// Has tf32 and bf16.
constexpr int kAmpere = 80;

int parse_index(std::string_view argument, int otherwise) {
  if (argument.empty()) return otherwise;
  const auto index = number_from<int>(argument);
  if (!index || *index < 0) {
    throw UsageError("--device cuda:" + std::string(argument), "is not a device number",
                     "use cuda or cuda:INDEX");
  }
  return *index;
}

}  // namespace

std::string cuda_software() {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  const long cudnn = at::detail::getCUDAHooks().versionRuntimeCuDNN();  // 91002: 9.10.2
  return "LibTorch " TORCH_VERSION ", CUDA " + device::cuda_version_text(CUDART_VERSION) +
         format(", cuDNN %ld.%ld.%ld", cudnn / 10000, cudnn / 100 % 100, cudnn % 100) +
         ", driver for CUDA " + device::cuda_version_text(driver);
}

std::string cuda_identity(const CudaDevice& device) {
  std::ifstream module("/sys/module/nvidia/version");
  std::string driver;
  std::getline(module, driver);
  return device.name + ", " + thousands(static_cast<double>(device.memory_bytes >> 20)) + " MiB, " +
         cuda_software() + (driver.empty() ? "" : " (" + driver + ")");
}

std::string best_precision(const CudaDevice& device) {
  return device.capability >= kAmpere ? "bf16" : "fp16";
}

std::string cuda_pci_address(int index) {
  char address[32] = {};
  if (cudaDeviceGetPCIBusId(address, sizeof address, index) == cudaSuccess) return address;
  cudaGetLastError();
  return {};
}

int cuda_device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

CudaDevice cuda_device(std::string_view argument, int otherwise) {
  CudaDevice device{.index = parse_index(argument, otherwise)};
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) refuse_status(status);
  if (device.index >= count) {
    throw Error("--device cuda:" + std::to_string(device.index),
                "this machine shows " + std::to_string(count) + " CUDA device(s), numbered from 0",
                "use a smaller number or fewer --gpus, and check CUDA_VISIBLE_DEVICES");
  }
  cudaDeviceProp properties{};
  const cudaError_t asked = cudaGetDeviceProperties(&properties, device.index);
  if (asked != cudaSuccess) refuse_status(asked);
  device.name = properties.name;
  device.capability = 10 * properties.major + properties.minor;
  device.memory_bytes = properties.totalGlobalMem;
  if (device.capability < device::least_capability(CUDART_VERSION))
    throw device::too_old_gpu(device.name, device.capability, CUDART_VERSION);
  return device;
}

Precision cuda_precision(std::string_view name, const CudaDevice& device) {
  constexpr Precision all[] = {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16};
  constexpr Precision before_ampere[] = {Precision::fp32, Precision::fp16};
  if (device.capability >= kAmpere) return precision_from(name, all, "cuda");
  return precision_from(name, before_ampere, "cuda on " + device.name);
}

void set_cuda_flags(Precision precision, const device::StepOptions& options) {
  at::Context& context = at::globalContext();
  context.lazyInitDevice(at::kCUDA);
  // It need not know convolutions in fp64, by which all others are judged; LibTorch's own do.
  context.setUserEnabledCuDNN(precision != Precision::fp64);
  context.setBenchmarkCuDNN(options.cudnn_benchmark);
  // LibTorch's own limit, and none.
  context.setBenchmarkLimitCuDNN(options.cudnn_tries_all ? 0 : 10);
  context.setAllowTF32CuDNN(precision == Precision::tf32);
  context.setAllowTF32CuBLAS(precision == Precision::tf32);
}

}  // namespace feedrate::train
