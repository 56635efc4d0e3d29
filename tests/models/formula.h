#pragma once
#include <ATen/Functions.h>
#include <torch/nn/module.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The weights and pictures that models/reference/make_reference.py gives torchvision's networks,
// equal bit by bit: integers until the last step, then one rounding.
namespace feedrate::formula {

// One 32-bit hash an element: FNV-1a of the name starts a Weyl sequence, mixed by lowbias32.
inline std::vector<std::uint32_t> hashes(std::string_view name, std::int64_t count) {
  std::uint32_t seed = 0x811C9DC5;
  for (const unsigned char byte : name) seed = (seed ^ byte) * 0x01000193;
  std::vector<std::uint32_t> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::uint32_t h = static_cast<std::uint32_t>(i) * 0x9E3779B1 + seed;
    h = (h ^ (h >> 16)) * 0x7FEB352D;
    h = (h ^ (h >> 15)) * 0x846CA68B;
    result[i] = h ^ (h >> 16);
  }
  return result;
}

// fp32 in [-1, 1).
inline at::Tensor uniform(std::string_view name, at::IntArrayRef shape) {
  at::Tensor result = at::empty(shape);
  float* value = result.data_ptr<float>();
  for (const std::uint32_t h : hashes(name, result.numel())) {
    *value++ = static_cast<float>(h >> 8) * 0x1p-23F - 1.0F;
  }
  return result;
}

inline at::Tensor values(const std::string& name, at::IntArrayRef shape) {
  if (name.ends_with("num_batches_tracked")) return at::zeros(shape, at::kLong);
  const at::Tensor u = uniform(name, shape);
  if (shape.size() > 1) {
    const auto fan_in = static_cast<double>(u.numel() / shape[0]);
    return u * static_cast<double>(static_cast<float>(std::sqrt(6.0 / fan_in)));
  }
  if (name.ends_with("running_var")) return u * 0.25 + 1.0;
  if (name.ends_with("running_mean") || name == "fc.bias") return u * 0.25;
  return u * 0.25 + (name.ends_with(".weight") ? 0.5 : 1.0);
}

inline void fill(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    item.value().copy_(values(item.key(), item.value().sizes()));
  }
  for (auto& item : model.named_buffers()) {
    item.value().copy_(values(item.key(), item.value().sizes()));
  }
}

// (count, 3, pixels, pixels): eight by eight squares of colour and a quarter of noise.
inline at::Tensor pictures(std::int64_t count, std::int64_t pixels) {
  const at::Tensor squares = uniform("squares", {count, 3, 8, 8});
  return squares.repeat_interleave(pixels / 8, 2).repeat_interleave(pixels / 8, 3) +
         uniform("noise", {count, 3, pixels, pixels}) * 0.25;
}

inline at::Tensor labels(std::int64_t count) {
  at::Tensor result = at::empty({count}, at::kLong);
  auto* label = result.data_ptr<std::int64_t>();
  for (const std::uint32_t h : hashes("labels", count)) *label++ = h % 1000;
  return result;
}

}  // namespace feedrate::formula
