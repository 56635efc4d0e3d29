#include "device/registry.h"
#include "train/accelerators.h"

extern "C" __attribute__((visibility("default"))) const std::uint64_t feedrate_layout;
const std::uint64_t feedrate_layout = feedrate::device::kTrainingLayout;

// What the program looks up after loading this library: see RegisterAccelerators.
extern "C" __attribute__((visibility("default"))) void feedrate_register_accelerators(
    feedrate::device::AcceleratorRegistry& registry) {
  registry.add(feedrate::train::cpu_kind());
  registry.add(feedrate::train::cuda_kind());
}
