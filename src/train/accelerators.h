#pragma once
#include "device/accelerator.h"
#include "device/registry.h"

namespace feedrate::train {

// Training on this machine's processors. Precisions: fp32, bf16. A step runs on the thread that
// calls submit(), and has ended when submit() returns.
device::AcceleratorKind cpu_kind();

// Training on one NVIDIA GPU: `cuda` (the device of the rank's number) or `cuda:INDEX`. Precisions:
// fp32, tf32, fp16 (with loss scaling), bf16. In a build with a CPU-only LibTorch it exists, counts
// no devices and says so when asked.
device::AcceleratorKind cuda_kind();

}  // namespace feedrate::train
