// Gloo's headers are Debian's, its code is LibTorch's: the types are only passed through.
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "base/text.h"
#include "train/process_group.h"

namespace feedrate::train {

Backend make_gloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                  bool one_machine) {
  using c10d::ProcessGroupGloo;
  const auto options = ProcessGroupGloo::Options::create();
  // As torch.distributed reads it; without it Gloo takes the address that this machine's own name
  // stands for.
  const std::string interface = environment_variable("GLOO_SOCKET_IFNAME");
  options->devices.push_back(
      one_machine         ? ProcessGroupGloo::createDeviceForHostname(device::kLoopback)
      : interface.empty() ? ProcessGroupGloo::createDefaultDevice()
                          : ProcessGroupGloo::createDeviceForInterface(interface));
  return c10::make_intrusive<ProcessGroupGloo>(store, rank, size, options);
}

}  // namespace feedrate::train
