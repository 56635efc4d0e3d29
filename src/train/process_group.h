#pragma once
#include <c10/core/Device.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <string>

#include "device/group.h"

namespace feedrate::train {

using ProcessGroup = c10::intrusive_ptr<c10d::ProcessGroup>;

// Connects the ranks for tensors on `device`: by NCCL on GPUs, by Gloo on CPUs. All ranks call it
// at the same point. Errors: Error where this LibTorch has no such library.
ProcessGroup make_process_group(device::Group& group, c10::Device device);

// What moves the gradients of tensors on such a device, for descriptions: "NCCL 2.28.9", "Gloo".
std::string exchange_library(c10::DeviceType device);

// One library's part of it; null where this build has none.
using Backend = c10::intrusive_ptr<c10d::Backend>;
Backend make_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                  bool one_machine);
Backend make_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size);
std::string nccl_version();

}  // namespace feedrate::train
