#pragma once
#include <filesystem>
#include <string>

namespace feedrate::device {

// What --device auto stands for on this machine.
struct DefaultDevice {
  std::string name;        // "cuda", or "emulated:a100"
  std::string why_no_gpu;  // "no GPU here"; empty for cuda
};

// A GPU is one whose node the driver has put into `nodes` (nvidia0 ..., or WSL's dxg): that needs
// no library, and a library that then does not find it says why. Cheap; thread-safe.
DefaultDevice default_device(const std::filesystem::path& nodes = "/dev");

}  // namespace feedrate::device
