#include "train/accelerators.h"

extern "C" __attribute__((visibility("default"))) const std::uint64_t feedrate_layout;
const std::uint64_t feedrate_layout = feedrate::kTrainingLayout;

// What the program looks up after loading this library: see RegisterAccelerators.
extern "C" __attribute__((visibility("default"))) void feedrate_register_accelerators(
    feedrate::AcceleratorRegistry& registry) {
  registry.add(feedrate::cpu_kind());
  registry.add(feedrate::cuda_kind());
}
