#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "device/accelerator.h"

namespace feedrate::device {

// What "emulated:ARGUMENT" stands for: a step of so many seconds, and a bus.
struct EmulatedDevice {
  // Says whose rate it is, and ends in how it is emulated: "NVIDIA H200, PyTorch's published 3,079
  // img/s (EMULATED)". Of another input size the rate that was published is named, and that it was
  // scaled.
  std::string name;
  double imgs_per_s = 0;  // infinity: steps of no length
  double bus_bytes_per_s = 0;
  std::vector<double> trace_ms{};  // the lengths of the steps, one after the other, again and
                                   // again; empty: all are alike
  double host_cpu_ms = 0;          // CPU time of a step on the host
  std::string source;
  std::string precision;  // of the published rate
  std::string caveat;     // how imgs_per_s differs from the published rate; empty: not
};
// Published rates hold for resnet50 at 224x224 and are scaled by the number of input pixels, as the
// work of its convolutions is, with a caveat; below kLeastScaled pixels a side GPUs are no longer
// full, and such sizes are refused. A rate given as a number is taken as it is. "trace=FILE" is
// what `run --record-steps FILE` wrote (see TraceName), for the batch size it was recorded at.
// Throws UsageError, and what read_step_trace() throws.
inline constexpr int kLeastScaled = 112;
EmulatedDevice emulated_device(std::string_view argument, const StepSpec& spec);

// How far the cells of an emulated device are those of the GPU whose rate it has: whether the one
// waits for data where the other does. Said with each answer that an emulated device gives.
inline constexpr std::string_view kEmulation = "emulation not yet compared with a GPU";

// Milliseconds of CPU time that a step burns on the host: as asked, or the device's own.
double host_cpu_ms(const EmulatedDevice& device, const Emulation& asked);

// Refuses a burn that is longer than the mean step: the host would set the rate, and not the device
// that is asked for. Steps of no length (emulated:inf) may burn any time, and delays that are put
// in on purpose are not looked at. Throws UsageError.
void check_host_cpu(const EmulatedDevice& device, const StepSpec& spec);

// Milliseconds: the mean length of the steps from `first` (0 is a run's first) on, `steps` >= 1 of
// them, with batches of so many images. Those of a trace differ.
double mean_step_ms(const EmulatedDevice& device, int batch_size, std::size_t first,
                    std::size_t steps);

}  // namespace feedrate::device
