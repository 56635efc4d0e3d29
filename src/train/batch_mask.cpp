#include "train/batch_mask.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <bit>
#include <vector>

#include "pipeline/mask_colour.h"
#include "train/to_device.h"

namespace feedrate::train {
namespace {

static_assert(std::endian::native == std::endian::little, "a word's first byte has its first bits");

// A tensor's integers are signed. Their sums and products have the bits of unsigned ones; a right
// shift would repeat the sign.
at::Tensor shifted_right(const at::Tensor& x, int by) {
  return at::bitwise_and(at::bitwise_right_shift(x, by), (std::int64_t{1} << (64 - by)) - 1);
}
at::Tensor times(const at::Tensor& x, std::uint64_t factor) {
  return x * static_cast<std::int64_t>(factor);
}

// mix64() of base/random.h, for each element.
at::Tensor mixed64(at::Tensor x) {
  x = x + static_cast<std::int64_t>(0x9e3779b97f4a7c15ULL);
  x = times(at::bitwise_xor(x, shifted_right(x, 30)), 0xbf58476d1ce4e5b9ULL);
  x = times(at::bitwise_xor(x, shifted_right(x, 27)), 0x94d049bb133111ebULL);
  return at::bitwise_xor(x, shifted_right(x, 31));
}

// What is set, and its neighbours in both directions. (N, h, w)
at::Tensor dilated(const at::Tensor& mask) {
  const at::Tensor all = mask.clone();
  for (const std::int64_t direction : {1, 2}) {
    const std::int64_t most = mask.size(direction) - 1;
    all.slice(direction, 1).bitwise_or_(mask.slice(direction, 0, most));
    all.slice(direction, 0, most).bitwise_or_(mask.slice(direction, 1));
  }
  return all;
}

// As `coloured` of mask_colour.cpp: the same sums in the same order. `nhwc`: (N, h, w, 3), uint8.
at::Tensor coloured(const at::Tensor& nhwc) {
  const at::Tensor pixels = nhwc.to(at::kFloat);
  std::vector<at::Tensor> channels;
  for (int c = 0; c < 3; ++c) {
    const float (&by)[3] = pipeline::kToYcc[c];
    const at::Tensor value = pixels.select(3, 0) * by[0] + pixels.select(3, 1) * by[1] +
                             pixels.select(3, 2) * by[2] + (pipeline::kYccOffsets[c] + 0.5f);
    channels.push_back(value.clamp(0, 255).to(at::kByte));  // which cuts off
  }
  return at::stack(channels, 3);
}

at::Tensor count_to(std::int64_t count, at::ScalarType type, c10::Device device) {
  return at::arange(count, type).to(device);
}

}  // namespace

BatchMask::BatchMask(c10::Device device, const device::DeviceAugmentation& by)
    : device_(device),
      crop_last_(by.mask_colour == pipeline::MaskColour::whole),
      across_(count_to(by.output.width, at::kLong, device)),
      down_(count_to(by.output.height, at::kLong, device)),
      bits_(count_to(8, at::kByte, device)) {}

at::Tensor BatchMask::parameters(std::span<const pipeline::Augmentation> by) const {
  std::vector<std::int64_t> values;
  for (const pipeline::Augmentation& drawn : by) {
    values.insert(values.end(),
                  {drawn.window.x, drawn.window.y, static_cast<std::int64_t>(drawn.mask_seed)});
  }
  return to_device(at::tensor(values, at::kLong).view({-1, 3}), device_);
}

// Rows first, then columns: an index for each, which all pixels of a row share.
at::Tensor BatchMask::cropped(const at::Tensor& nhwc, const at::Tensor& parameters) const {
  const std::int64_t n = nhwc.size(0), rows = down_.size(0), columns = across_.size(0);
  const at::Tensor down = (parameters.select(1, 1).unsqueeze(1) + down_).view({n, rows, 1, 1});
  const at::Tensor across =
      (parameters.select(1, 0).unsqueeze(1) + across_).view({n, 1, columns, 1});
  const at::Tensor strip = nhwc.gather(1, down.expand({n, rows, nhwc.size(2), 3}));
  return strip.gather(2, across.expand({n, rows, columns, 3}));
}

// As draw_mask, one a seed: the words, then their bits. (N, height, width)
at::Tensor BatchMask::masks(const at::Tensor& seeds, std::int64_t height,
                            std::int64_t width) const {
  const auto words = static_cast<std::int64_t>(pipeline::mask_words(static_cast<int>(width)));
  const at::Tensor first =
      seeds.unsqueeze(1) + at::arange(0, 2 * height * words, 2, seeds.options());
  const at::Tensor drawn = at::bitwise_and(mixed64(first), mixed64(first + 1));
  const at::Tensor bytes = drawn.view(at::kByte).unsqueeze(2);
  const at::Tensor bits = at::bitwise_and(at::bitwise_right_shift(bytes, bits_), 1);
  return bits.view({seeds.size(0), height, 64 * words}).slice(2, 0, width).to(at::kBool);
}

at::Tensor BatchMask::masked_and_coloured(const at::Tensor& nhwc,
                                          const at::Tensor& parameters) const {
  const at::Tensor mask = dilated(masks(parameters.select(1, 2), nhwc.size(1), nhwc.size(2)));
  return coloured(nhwc.masked_fill(mask.unsqueeze(3), 0));
}

at::Tensor BatchMask::operator()(const at::Tensor& nhwc, const at::Tensor& parameters) const {
  return crop_last_ ? cropped(masked_and_coloured(nhwc, parameters), parameters)
                    : masked_and_coloured(cropped(nhwc, parameters), parameters);
}

}  // namespace feedrate::train
