#pragma once

namespace feedrate::device {

// CPU time, in milliseconds, that a training step of ResNet-50 costs the process that launches it,
// as feedrate's own steps took it on an NVIDIA H200 (bf16, batches of 256 at 224x224, no loader;
// results/reference/h200/gpu_check.jsonl, `process_cpu_s` over `steps`). It depends on the number
// of kernels and hardly on the batch, so that it holds for other batch sizes, too.

// The step as a CUDA graph, launched as a whole: 0.117 s for 147 steps ("synthetic bf16").
inline constexpr double kGraphStepCpuMs = 0.8;

// The step launched kernel by kernel: 5.05 s for 91 steps of 55.3 ms ("synthetic bf16, fixed
// ways"). The thread was busy all the time, but probably waited in the driver for the GPU: an upper
// bound.
inline constexpr double kEagerStepCpuMs = 55;

}  // namespace feedrate::device
