#include "train/accelerators.h"

// What the program looks up after loading this library: see RegisterAccelerators.
extern "C" __attribute__((visibility("default"))) void feedrate_register_accelerators(
    feedrate::AcceleratorRegistry& registry) {
  registry.add(feedrate::cpu_kind());
  registry.add(feedrate::cuda_kind());
}
