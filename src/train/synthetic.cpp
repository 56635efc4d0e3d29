#include "train/synthetic.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "train/input_maker.h"

namespace feedrate::train {

device::StepSpec of_rank(device::StepSpec spec, const device::Group& group) {
  spec.seed += static_cast<std::uint64_t>(group.rank()) *
               0x9E3779B9;  // torch's generator looks at the lower 32 bits
  return spec;
}

SyntheticRing::SyntheticRing(const device::StepSpec& spec, at::ScalarType type,
                             c10::Device device) {
  constexpr std::size_t kMost = 4;
  constexpr std::size_t kMemory = std::size_t{1} << 30;
  const pipeline::BatchSpec& batch = spec.batch;
  at::manual_seed(spec.seed);
  const auto on_device = at::TensorOptions(device);
  do {
    const at::Tensor nhwc = at::randn({batch.batch_size, batch.size.height, batch.size.width, 3},
                                      on_device.dtype(type));
    batches_.push_back({as_input(nhwc.permute({0, 3, 1, 2}), spec.step),
                        at::randint(spec.classes, {batch.batch_size}, on_device.dtype(at::kLong))});
  } while (batches_.size() < std::min(kMost, kMemory / batches_.front().input.nbytes()));
}

}  // namespace feedrate::train
