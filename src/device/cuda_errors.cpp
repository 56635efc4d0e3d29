#include "device/cuda_errors.h"

namespace feedrate::device {
namespace {

struct Sign {
  std::string_view of;  // part of cudaGetErrorString()
  GpuFault fault;
};
constexpr Sign kSigns[] = {
    {"no kernel image",
     {"this LibTorch has no code for a GPU of its generation",
      "use a LibTorch that has (CMAKE_PREFIX_PATH; older GPUs need one built for CUDA 12)"}},
    {"uncorrectable ECC error",
     {"its memory has an error that ECC cannot correct",
      "see `nvidia-smi -q -d ECC,ROW_REMAPPER`; reset the GPU, or use another"}},
    {"uncorrectable NVLink error",
     {"its NVLink has an error that cannot be corrected",
      "see `nvidia-smi nvlink -e`; reset the GPUs, or use fewer --gpus"}},
    {"busy or unavailable",
     {"it cannot be used now: another program has it, its compute mode forbids it, or it is cut "
      "into slices (MIG) and none is given",
      "see `nvidia-smi` and `nvidia-smi -q -d COMPUTE`, or set CUDA_VISIBLE_DEVICES to a slice of "
      "`nvidia-smi -L`"}},
};

}  // namespace

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int least_cuda_driver(int version) { return version >= 13000 ? 580 : 525; }

Error error_of(const NoCudaDevice& none) {
  const std::string needed = "CUDA " + cuda_version_text(none.built_for) + " (" +
                             std::to_string(least_cuda_driver(none.built_for)) + " or newer)";
  if (none.driver_knows == 0) {
    return {"--device cuda", "no CUDA device: no NVIDIA driver is loaded",
            "install a driver for " + needed + ", or use --device cpu or emulated:NAME"};
  }
  if (none.is_driver_too_old) {
    return {"--device cuda",
            "no CUDA device: the driver knows CUDA " + cuda_version_text(none.driver_knows) +
                ", this build needs " + cuda_version_text(none.built_for),
            "update the driver to one for " + needed +
                ", or build with a LibTorch for the driver's CUDA (CMAKE_PREFIX_PATH)"};
  }
  const GpuFault fault = gpu_fault(none.reason);
  if (!fault.reason.empty())
    return {"--device cuda", "no CUDA device: " + std::string(fault.reason),
            std::string(fault.remedy)};
  return {"--device cuda",
          "no CUDA device: " + (none.reason.empty() ? "the driver shows none" : none.reason),
          "check nvidia-smi and CUDA_VISIBLE_DEVICES; in a container, that it was given the GPU"};
}

int least_capability(int built_for) { return built_for >= 13000 ? 75 : 50; }

Error too_old_gpu(const std::string& name, int capability, int built_for) {
  const auto text = [](int one) {
    return std::to_string(one / 10) + "." + std::to_string(one % 10);
  };
  return {name,
          "its compute capability is " + text(capability) + ", CUDA " +
              cuda_version_text(built_for) + " needs " + text(least_capability(built_for)),
          "build with a LibTorch for an older CUDA (CMAKE_PREFIX_PATH), or use another GPU"};
}

GpuFault gpu_fault(std::string_view message) {
  for (const Sign& sign : kSigns) {
    if (message.find(sign.of) != std::string_view::npos) return sign.fault;
  }
  return {};
}

}  // namespace feedrate::device
