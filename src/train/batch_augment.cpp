#include "train/batch_augment.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <vector>

#include "base/in_parallel.h"
#include "pipeline/jitter.h"
#include "train/augment_blocks.h"
#include "train/augment_kernel.h"
#include "train/to_device.h"

namespace feedrate::train {
namespace {

constexpr std::int64_t kDrawn = sizeof(Drawn) / sizeof(float);

Drawn drawn_from(const pipeline::Augmentation& by) {
  return {.x = static_cast<float>(by.window.x),
          .y = static_cast<float>(by.window.y),
          .width = static_cast<float>(by.window.width),
          .height = static_cast<float>(by.window.height),
          .flip = by.flip ? 1.0f : 0.0f,
          .brightness = by.jitter.brightness,
          .contrast = by.jitter.contrast,
          .saturation = by.jitter.saturation};
}

codec::Rect window_of(const Drawn& by) {
  return {static_cast<int>(by.x), static_cast<int>(by.y), static_cast<int>(by.width),
          static_cast<int>(by.height)};
}

}  // namespace

BatchAugmenter::BatchAugmenter(c10::Device device, const device::DeviceAugmentation& by)
    : device_(device), by_(by) {}

at::Tensor BatchAugmenter::parameters(std::span<const pipeline::Augmentation> by) const {
  const auto count = static_cast<std::int64_t>(by.size());
  at::Tensor drawn = at::empty({count, kDrawn}, at::kFloat);
  std::transform(by.begin(), by.end(), reinterpret_cast<Drawn*>(drawn.mutable_data_ptr<float>()),
                 drawn_from);
  return to_device(drawn, device_);
}

at::Tensor BatchAugmenter::by_workers_code(const at::Tensor& nhwc,
                                           const at::Tensor& parameters) const {
  const codec::PixelSize stored{static_cast<int>(nhwc.size(2)), static_cast<int>(nhwc.size(1))};
  at::Tensor out =
      at::empty({nhwc.size(0), by_.output.height, by_.output.width, 3}, nhwc.options());
  const auto* const in = nhwc.const_data_ptr<std::uint8_t>();
  const auto* const drawn = reinterpret_cast<const Drawn*>(parameters.const_data_ptr<float>());
  auto* const made = out.mutable_data_ptr<std::uint8_t>();
  const auto make_work = [&] {
    return [&, resizer = pipeline::Resizer()](std::size_t sample) mutable {
      const auto i = static_cast<std::int64_t>(sample);
      const Drawn& by = drawn[i];
      const codec::PixelView picture = codec::packed_view(in + i * nhwc.stride(0), stored);
      std::uint8_t* const pixels = made + i * out.stride(0);
      resizer.resize(codec::DecodedWindow(codec::window_of(picture, window_of(by))), by_.output,
                     by.flip > 0, by_.filter, pixels);
      pipeline::jitter_colours(pixels, static_cast<std::size_t>(out.stride(0) / 3),
                               {by.brightness, by.contrast, by.saturation});
    };
  };
  const std::int64_t threads = std::min<std::int64_t>(at::get_num_threads(), nhwc.size(0));
  in_parallel(static_cast<std::size_t>(nhwc.size(0)), static_cast<int>(threads), make_work,
              [] { return false; });
  return out;
}

at::Tensor BatchAugmenter::operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const {
  RECORD_FUNCTION("feedrate::augment", std::vector<c10::IValue>());  // for traces of operators
  TORCH_CHECK(nhwc.scalar_type() == at::kByte && nhwc.dim() == 4 && nhwc.is_contiguous() &&
                  parameters.sizes() == at::IntArrayRef({nhwc.size(0), kDrawn}),
              "augmentation: not a batch of pictures with what was drawn for each");
  if (!nhwc.is_cuda()) return by_workers_code(nhwc, parameters);
  return augment_on_cuda({.pictures = nhwc,
                          .drawn = parameters,
                          .height = by_.output.height,
                          .width = by_.output.width,
                          .antialias = by_.filter == pipeline::ResizeFilter::antialias,
                          .jitter = by_.jitter});
}

}  // namespace feedrate::train
