#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "device/accelerator.h"

namespace feedrate {

// A published ResNet-50 training rate at 224x224, one GPU.
struct PublishedRate {
  std::string_view name;      // as typed after "emulated:"
  std::string_view device;    // "NVIDIA A100 SXM 80GB"
  double imgs_per_s;
  double bus_bytes_per_s;     // host to device, as such a card reaches with pinned memory
  std::string_view source;
};
std::span<const PublishedRate> published_rates();

// What "emulated:ARGUMENT" stands for: a step of so many seconds, and a bus.
struct EmulatedDevice {
  std::string name;
  double imgs_per_s = 0;  // infinity: steps of no length
  double bus_bytes_per_s = 0;
  std::string source;
  std::string precision;  // of the published rate
  std::string caveat;     // how imgs_per_s differs from the published rate; empty: not
};
// Published rates hold for resnet50 at 224x224 and are scaled by the number of input pixels, as the work of
// its convolutions is, with a caveat; below kLeastScaled pixels a side GPUs are no longer full, and such
// sizes are refused. A rate given as a number is taken as it is. Throws UsageError.
inline constexpr int kLeastScaled = 112;
EmulatedDevice emulated_device(std::string_view argument, const StepSpec& spec);

// Takes real batches at a known rate, without a GPU. Step k ends at
//   max(copy of batch k ended, end of step k-1) + batch_size / imgs_per_s
// by absolute deadlines; the copy is a real one into one of two buffers and takes at least
// bytes / bus_bytes_per_s. With several ranks a step ends for all when the slowest has ended, as it
// does where gradients are averaged.
AcceleratorKind emulated_kind();

}  // namespace feedrate
