#include "train/normalise.h"

#include <ATen/Functions.h>

#include "train/normalise_kernel.h"

namespace feedrate::train {
namespace {

at::Tensor channels(const float (&values)[3], c10::Device device) {
  return at::tensor({values[0], values[1], values[2]}, at::kFloat).to(device);
}

// Made on the host, so that it has the host's rounding.
at::Tensor table_of(c10::Device device, at::ScalarType to, codec::Normalisation by) {
  const at::Tensor values =
      at::arange(256, at::kByte).view({1, 256, 1, 1}).expand({1, 256, 1, 3}).contiguous();
  return Normaliser(at::kCPU, to, by)(values)
      .permute({0, 2, 3, 1})
      .reshape({256, 3})
      .contiguous()
      .to(device);
}

}  // namespace

// 255 is a tensor because CUDA's division by a number multiplies with its rounded reciprocal, and
// what is lost by that is many ulps of a value near zero once the mean is subtracted.
Normaliser::Normaliser(c10::Device device, at::ScalarType to, codec::Normalisation by)
    : to_(to),
      full_(at::full({1}, 255.0f, at::kFloat).to(device)),
      mean_(channels(codec::statistics_of(by).mean, device)),
      std_(channels(codec::statistics_of(by).std, device)),
      table_(device.is_cuda() ? table_of(device, to, by) : at::Tensor()) {}

at::Tensor Normaliser::operator()(const at::Tensor& nhwc) const {
  if (nhwc.scalar_type() == at::kByte) {
    return table_.defined() ? normalise_on_cuda(nhwc, table_).permute({0, 3, 1, 2}) : pixels(nhwc);
  }
  return nhwc.to(to_, /*non_blocking=*/false, /*copy=*/true).permute({0, 3, 1, 2});
}

at::Tensor Normaliser::space_to_depth(const at::Tensor& nhwc) const {
  const bool takes = nhwc.scalar_type() == at::kByte && table_.defined();
  return takes ? normalise_space_to_depth_on_cuda(nhwc, table_).permute({0, 3, 1, 2})
               : at::Tensor();
}

at::Tensor Normaliser::pixels(const at::Tensor& nhwc) const {
  return at::div(nhwc, full_).sub_(mean_).div_(std_).to(to_).permute({0, 3, 1, 2});
}

}  // namespace feedrate::train
