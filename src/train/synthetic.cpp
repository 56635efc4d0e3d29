#include "train/synthetic.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "base/random.h"
#include "train/input_maker.h"

namespace feedrate::train {
namespace {

// Both: a batch of normalised pictures on `device`, (N, 3, H, W) in channels_last.
at::Tensor drawn_images(const device::StepSpec& spec, std::uint64_t seed, at::ScalarType type,
                        c10::Device device) {
  const codec::PixelSize size = input_size(spec);
  const at::Tensor nhwc = at::empty({spec.batch.batch_size, size.height, size.width, 3}, at::kByte);
  spec.draw(seed, size, {nhwc.mutable_data_ptr<std::uint8_t>(), nhwc.nbytes()});
  return Normaliser(device, type)(nhwc.to(device));
}
at::Tensor noise_images(const device::StepSpec& spec, at::ScalarType type, c10::Device device) {
  const codec::PixelSize size = input_size(spec);
  return at::randn({spec.batch.batch_size, size.height, size.width, 3},
                   at::TensorOptions(device).dtype(type))
      .permute({0, 3, 1, 2});
}

}  // namespace

device::StepSpec of_rank(device::StepSpec spec, const device::Group& group) {
  spec.seed += static_cast<std::uint64_t>(group.rank()) *
               0x9E3779B9;  // torch's generator looks at the lower 32 bits
  return spec;
}

SyntheticRing::SyntheticRing(const device::StepSpec& spec, at::ScalarType type,
                             c10::Device device) {
  constexpr std::size_t kMost = 4;
  constexpr std::size_t kMemory = std::size_t{1} << 30;
  at::manual_seed(spec.seed);
  do {
    const at::Tensor images =
        spec.draw ? drawn_images(spec, mix64(spec.seed, batches_.size()), type, device)
                  : noise_images(spec, type, device);
    batches_.push_back(
        {as_input(images, spec.step), at::randint(spec.classes, {spec.batch.batch_size},
                                                  at::TensorOptions(device).dtype(at::kLong))});
  } while (batches_.size() < std::min(kMost, kMemory / batches_.front().input.nbytes()));
}

}  // namespace feedrate::train
