#include "train/batch_augment.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <vector>

#include "pipeline/jitter.h"

namespace feedrate::train {
namespace {

constexpr std::int64_t kColumns = 8;  // x, y, width, height, flip, brightness, contrast, saturation

at::Tensor centres(int count, c10::Device device) {
  return ((at::arange(count, at::kFloat) + 0.5f) / static_cast<float>(count)).to(device);
}

// (N) to (N, 1, 1, 1)
at::Tensor spread(const at::Tensor& values) { return values.view({-1, 1, 1, 1}); }

}  // namespace

BatchAugmenter::BatchAugmenter(c10::Device device, codec::PixelSize output, bool jitter)
    : device_(device),
      jitter_(jitter),
      across_(centres(output.width, device)),
      down_(centres(output.height, device)),
      gray_(at::tensor({pipeline::kGray[0], pipeline::kGray[1], pipeline::kGray[2]}, at::kFloat)
                .to(device)) {}

at::Tensor BatchAugmenter::parameters(std::span<const pipeline::Augmentation> by) const {
  std::vector<float> values;
  for (const auto& [window, flip, jitter] : by) {
    for (const int v : {window.x, window.y, window.width, window.height, static_cast<int>(flip)}) {
      values.push_back(static_cast<float>(v));
    }
    values.insert(values.end(), {jitter.brightness, jitter.contrast, jitter.saturation});
  }
  const at::Tensor on_host = at::tensor(values, at::kFloat).view({-1, kColumns});
  if (!device_.is_cuda()) return on_host;
  // From page-locked memory, which is kept until the copy has run: otherwise the host waits for the
  // device here.
  return on_host.pin_memory().to(device_, /*non_blocking=*/true);
}

// Where each output pixel's centre falls in the window, cut to the centres of its outer pixels, as
// grid_sample counts: -1 and 1 are the picture's edges.
at::Tensor BatchAugmenter::places(const at::Tensor& first, const at::Tensor& length,
                                  const at::Tensor& steps, std::int64_t stored) const {
  const at::Tensor inside = at::minimum((steps * length - 0.5f).clamp_min(0), length - 1);
  return (2 * (first + inside) + 1) / static_cast<float>(stored) - 1;
}

at::Tensor BatchAugmenter::operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const {
  const auto column = [&](std::int64_t i) {
    return parameters.select(1, i).unsqueeze(1);
  };  // (N, 1)
  const at::Tensor steps = at::where(column(4) > 0, 1 - across_, across_);  // (N, W)
  const at::Tensor x = places(column(0), column(2), steps, nhwc.size(2)),
                   y = places(column(1), column(3), down_, nhwc.size(1));
  const auto shape = std::vector<std::int64_t>{nhwc.size(0), down_.size(0), across_.size(0)};
  const at::Tensor grid =
      at::stack({x.unsqueeze(1).expand(shape), y.unsqueeze(2).expand(shape)}, 3);
  constexpr std::int64_t kBilinear = 0, kBorder = 1;
  at::Tensor pixels =
      at::grid_sampler_2d(nhwc.permute({0, 3, 1, 2}).to(at::kFloat), grid, kBilinear, kBorder,
                          /*align_corners=*/false)
          .permute({0, 2, 3, 1});
  if (!jitter_) return pixels.contiguous();
  const auto factor = [&](std::int64_t i) { return spread(parameters.select(1, i)); };
  const auto gray = [&] { return (pixels * gray_).sum(3, /*keepdim=*/true); };
  pixels = (pixels * factor(5)).clamp(0, 255);
  pixels =
      (factor(6) * pixels + (1 - factor(6)) * gray().mean({1, 2}, /*keepdim=*/true)).clamp(0, 255);
  return (factor(7) * pixels + (1 - factor(7)) * gray()).clamp(0, 255).contiguous();
}

}  // namespace feedrate::train
