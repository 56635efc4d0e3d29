#include "train/synthetic.h"

#include <ATen/Functions.h>

#include <algorithm>

namespace feedrate {

SyntheticRing::SyntheticRing(const BatchSpec& spec, int classes, at::ScalarType type,
                             c10::Device device, std::uint64_t seed) {
  constexpr std::size_t kMost = 4;
  constexpr std::size_t kMemory = std::size_t{1} << 30;
  const std::size_t bytes =
      spec.sample_elements() * static_cast<std::size_t>(spec.batch_size) * c10::elementSize(type);
  at::manual_seed(seed);
  const auto on_device = at::TensorOptions(device);
  for (std::size_t i = 0; i < std::clamp(kMemory / bytes, std::size_t{1}, kMost); ++i) {
    const at::Tensor nhwc =
        at::randn({spec.batch_size, spec.size.height, spec.size.width, 3}, on_device.dtype(type));
    batches_.push_back({nhwc.permute({0, 3, 1, 2}),
                        at::randint(classes, {spec.batch_size}, on_device.dtype(at::kLong))});
  }
}

}  // namespace feedrate
