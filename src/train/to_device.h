#pragma once
#include <ATen/core/Tensor.h>

namespace feedrate::train {

// A small tensor of the host on `device`. From page-locked memory, which is kept until the copy has
// run: otherwise the host waits for the device here.
inline at::Tensor to_device(const at::Tensor& on_host, c10::Device device) {
  return device.is_cuda() ? on_host.pin_memory().to(device, /*non_blocking=*/true) : on_host;
}

}  // namespace feedrate::train
