#include "train/batch_augment.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <vector>

#include "pipeline/jitter.h"
#include "train/to_device.h"

namespace feedrate::train {
namespace {

constexpr std::int64_t kColumns = 8;  // x, y, width, height, flip, brightness, contrast, saturation

at::Tensor centres(int count, c10::Device device) {
  return ((at::arange(count, at::kFloat) + 0.5f) / static_cast<float>(count)).to(device);
}

// One direction of a resize, for every sample.
struct Direction {
  at::Tensor first, length;  // of its window, in stored pixels: (N, 1)
  at::Tensor steps;         // centres of the output's pixels, in parts of the window: (N or 1, out)
  std::int64_t stored = 0;  // pixels of the whole picture
};

// Where each output pixel's centre falls in the window, cut to the centres of its outer pixels, as
// grid_sample counts: -1 and 1 are the picture's edges. (N, out)
at::Tensor places(const Direction& d) {
  const at::Tensor inside = at::minimum((d.steps * d.length - 0.5f).clamp_min(0), d.length - 1);
  return (2 * (d.first + inside) + 1) / static_cast<float>(d.stored) - 1;
}

// The two nearest pixels of each direction. `pixels`: (N, 3, h, w); returns (N, 3, H, W).
at::Tensor sampled(const at::Tensor& pixels, const Direction& across, const Direction& down) {
  const at::Tensor x = places(across), y = places(down);
  const auto shape = std::vector<std::int64_t>{pixels.size(0), y.size(1), x.size(1)};
  const at::Tensor grid =
      at::stack({x.unsqueeze(1).expand(shape), y.unsqueeze(2).expand(shape)}, 3);
  constexpr std::int64_t kBilinear = 0, kBorder = 1;
  return at::grid_sampler_2d(pixels, grid, kBilinear, kBorder, /*align_corners=*/false);
}

// The weight of every stored pixel in every output pixel: a triangle, as wide as two output pixels
// where they are larger than the stored ones, cut at the window and scaled to a sum of 1 (see
// ResizeTaps). (N, out, stored)
at::Tensor triangles(const Direction& d) {
  const auto outputs = static_cast<float>(d.steps.size(1));
  const at::Tensor reach = (d.length / outputs).clamp_min(1).unsqueeze(2);  // (N, 1, 1)
  const at::Tensor pixel = at::arange(d.stored, d.first.options()).view({1, 1, -1}) + 0.5f;
  const at::Tensor centre = (d.first + d.steps * d.length).unsqueeze(2);  // (N, out, 1)
  const at::Tensor begin = d.first.unsqueeze(2), end = begin + d.length.unsqueeze(2);
  const at::Tensor inside = at::logical_and(pixel > begin, pixel < end);
  const at::Tensor weights = (1 - (pixel - centre).abs() / reach).clamp_min(0) * inside;
  return weights / weights.sum(2, /*keepdim=*/true);
}

// In fp32 also where steps use TF32, whose 10 bits would show in pixels of 8.
// `pixels`: (N, h, w, 3), `across`: (N, W, w), `down`: (N, H, h); returns (N, H, W, 3).
at::Tensor weighted(const at::Tensor& pixels, const at::Tensor& across, const at::Tensor& down) {
  const std::int64_t n = pixels.size(0), h = pixels.size(1), w = pixels.size(2), out = down.size(1);
  const at::NoTF32Guard guard;
  const at::Tensor rows = at::bmm(down, pixels.reshape({n, h, 3 * w}));  // (N, H, 3 w)
  const at::Tensor columns = rows.view({n, out, w, 3}).transpose(1, 2).reshape({n, w, 3 * out});
  return at::bmm(across, columns).view({n, across.size(1), out, 3}).transpose(1, 2);
}

// (N) to (N, 1, 1, 1)
at::Tensor spread(const at::Tensor& values) { return values.view({-1, 1, 1, 1}); }

}  // namespace

BatchAugmenter::BatchAugmenter(c10::Device device, const device::DeviceAugmentation& by)
    : device_(device),
      antialias_(by.filter == pipeline::ResizeFilter::antialias),
      jitter_(by.jitter),
      across_(centres(by.output.width, device)),
      down_(centres(by.output.height, device)),
      gray_(at::tensor({pipeline::kGray[0], pipeline::kGray[1], pipeline::kGray[2]}, at::kFloat)
                .to(device)) {}

at::Tensor BatchAugmenter::parameters(std::span<const pipeline::Augmentation> by) const {
  std::vector<float> values;
  for (const pipeline::Augmentation& drawn : by) {
    const auto& [x, y, width, height] = drawn.window;
    const pipeline::ColourJitter& jitter = drawn.jitter;
    for (const int v : {x, y, width, height, static_cast<int>(drawn.flip)}) {
      values.push_back(static_cast<float>(v));
    }
    values.insert(values.end(), {jitter.brightness, jitter.contrast, jitter.saturation});
  }
  return to_device(at::tensor(values, at::kFloat).view({-1, kColumns}), device_);
}

at::Tensor BatchAugmenter::resized(const at::Tensor& nhwc, const at::Tensor& parameters) const {
  const auto column = [&](std::int64_t i) {
    return parameters.select(1, i).unsqueeze(1);
  };  // (N, 1)
  const at::Tensor mirrored = at::where(column(4) > 0, 1 - across_, across_);  // (N, W)
  const Direction across{column(0), column(2), mirrored, nhwc.size(2)};
  const Direction down{column(1), column(3), down_.unsqueeze(0), nhwc.size(1)};
  if (antialias_) return weighted(nhwc.to(at::kFloat), triangles(across), triangles(down));
  return sampled(nhwc.permute({0, 3, 1, 2}).to(at::kFloat), across, down).permute({0, 2, 3, 1});
}

at::Tensor BatchAugmenter::jittered(at::Tensor pixels, const at::Tensor& parameters) const {
  const auto factor = [&](std::int64_t i) { return spread(parameters.select(1, i)); };
  const auto gray = [&] { return (pixels * gray_).sum(3, /*keepdim=*/true); };
  pixels = (pixels * factor(5)).clamp(0, 255);
  pixels =
      (factor(6) * pixels + (1 - factor(6)) * gray().mean({1, 2}, /*keepdim=*/true)).clamp(0, 255);
  return (factor(7) * pixels + (1 - factor(7)) * gray()).clamp(0, 255);
}

at::Tensor BatchAugmenter::operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const {
  const at::Tensor pixels = resized(nhwc, parameters);
  return (jitter_ ? jittered(pixels, parameters) : pixels).contiguous();
}

}  // namespace feedrate::train
