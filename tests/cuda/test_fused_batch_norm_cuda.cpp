#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>
#include <vector>

#include "models/fused_batch_norm.h"
#include "models/space_to_depth.h"
#include "support_cuda.h"
#include "train/normalise.h"

namespace feedrate::tests {
namespace {

using at::Tensor;

class CudaBatchNorm : public OnGpu {};

double distance(const Tensor& a, const Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).norm().item<double>() /
         b.to(at::kDouble).norm().item<double>();
}

models::BatchNormState some_state(std::int64_t channels, const at::TensorOptions& on,
                                  double offset) {
  return {(at::arange(channels, on) / channels + offset).requires_grad_(),
          (at::arange(channels, on) / channels - offset).requires_grad_(),
          at::zeros({channels}, on), at::ones({channels}, on)};
}

Tensor by_the_library(const Tensor& x, const models::BatchNormState& by) {
  return at::batch_norm(x, by.weight, by.bias, by.running_mean, by.running_var, true,
                        models::kBatchNormMomentum, models::kBatchNormEpsilon, false);
}

// relu(batch_norm(x) + shortcut), which is normalised as well where both are joined, and all
// gradients: by the kernels in `type`, and by the library in fp64.
std::vector<Tensor> pass(const Tensor& x0, const Tensor& shortcut0, const Tensor& gradient,
                         at::ScalarType type, bool fused, bool joined) {
  const auto channels = x0.size(1);
  const auto on = x0.options().dtype(fused ? at::kFloat : at::kDouble);
  const Tensor x = x0.to(type).detach().requires_grad_(),
               shortcut = shortcut0.to(type).detach().requires_grad_();
  const models::BatchNormState state = some_state(channels, on, 0.5),
                               second = some_state(channels, on, 0.7);
  Tensor y;
  if (fused) {
    const models::Forked both = joined
                                    ? models::fused_batch_norm_join_relu(x, state, shortcut, second)
                                    : models::fused_batch_norm_add_relu(x, shortcut, state);
    y = both.main;
    torch::autograd::backward({both.main, both.shortcut}, {gradient.to(type), gradient.to(type)});
  } else {
    y = (by_the_library(x, state) + (joined ? by_the_library(shortcut, second) : shortcut)).relu();
    y.backward(2 * gradient.to(type));
  }
  std::vector<Tensor> results = {y.detach(),          x.grad(),          shortcut.grad(),
                                 state.weight.grad(), state.bias.grad(), state.running_mean,
                                 state.running_var};
  if (joined) {
    results.insert(results.end(), {second.weight.grad(), second.bias.grad(), second.running_mean,
                                   second.running_var});
  }
  return results;
}

TEST_F(CudaBatchNorm, IsTheLibrarysInDouble) {
  struct Shape {
    int pictures, channels, side;
  };
  for (const Shape& s : {Shape{3, 8, 5}, Shape{16, 64, 56}, Shape{16, 256, 56}, Shape{16, 512, 28},
                         Shape{16, 2048, 7}}) {
    at::manual_seed(1);
    const auto some = [&](at::ScalarType type) {
      return at::randn({s.pictures, s.channels, s.side, s.side}, at::TensorOptions(device()))
          .contiguous(at::MemoryFormat::ChannelsLast)
          .to(type);
    };
    // fp32: a ReLU whose input is within rounding of zero may turn, which is 4e-4 of the norm for
    // each.
    for (const auto& [type, bound] : {std::pair{at::kFloat, 2e-3}, std::pair{at::kHalf, 2e-3},
                                      std::pair{at::kBFloat16, 1e-2}}) {
      const Tensor x = some(type), shortcut = some(type), gradient = some(type);
      ASSERT_TRUE(models::fits_fused_batch_norm(x));
      for (const bool joined : {false, true}) {
        const auto ours = pass(x, shortcut, gradient, type, true, joined),
                   exact = pass(x, shortcut, gradient, at::kDouble, false, joined);
        for (std::size_t i = 0; i < ours.size(); ++i) {
          EXPECT_LT(distance(ours[i], exact[i]), bound)
              << s.channels << "x" << s.side << " " << type << " " << joined << ", result " << i;
        }
        EXPECT_TRUE(at::equal(ours[1], pass(x, shortcut, gradient, type, true, joined)[1]))
            << "twice the same";
      }
    }
  }
}

// The output with a pooling behind the ReLU, and the gradients: in one pass, or the library's.
std::vector<Tensor> pooled_pass(const Tensor& x0, bool in_one_pass) {
  const auto channels = x0.size(1);
  const auto on = x0.options().dtype(at::kFloat);
  const Tensor x = x0.detach().requires_grad_();
  // The first channels are turned round.
  const models::BatchNormState state{(at::arange(channels, on) / channels - 0.3).requires_grad_(),
                                     (at::arange(channels, on) / channels - 0.5).requires_grad_(),
                                     at::zeros({channels}, on), at::ones({channels}, on)};
  const Tensor y = in_one_pass ? models::fused_batch_norm_relu_pool(x, state)
                               : at::max_pool2d(models::fused_batch_norm_relu(x, state), 3, 2, 1);
  y.backward(at::arange(y.numel(), on).view_as(y).remainder(7).sub(2).to(y.scalar_type()));
  return {y.detach(), x.grad(), state.weight.grad(), state.bias.grad()};
}

// Whole numbers: rounding makes no equals of what differs, of which the library would take another
// one. Its gradient is rounded once more.
TEST_F(CudaBatchNorm, PoolsAsTheLibraryDoes) {
  for (const auto& [type, bound] :
       {std::pair{at::kFloat, 1e-5}, std::pair{at::kHalf, 2e-3}, std::pair{at::kBFloat16, 1e-2}}) {
    for (const int side : {1, 2, 7, 56, 112}) {
      at::manual_seed(2);
      const Tensor x = at::randint(-8, 8, {5, 64, side, side + 1}, at::TensorOptions(device()))
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .to(type);
      const auto ours = pooled_pass(x, true), librarys = pooled_pass(x, false);
      EXPECT_TRUE(at::equal(ours[0], librarys[0])) << type << " " << side;
      for (std::size_t i = 1; i < ours.size(); ++i)
        EXPECT_LT(distance(ours[i], librarys[i]), bound) << type << " " << side << ", result " << i;
      EXPECT_TRUE(at::equal(ours[1], pooled_pass(x, true)[1])) << "twice the same";
    }
  }
}

class CudaSpaceToDepth : public OnGpu {};

// Beside the 7x7 convolution in fp64, of the same rounded values.
TEST_F(CudaSpaceToDepth, IsTheFirstConvolutionAndItsGradient) {
  for (const auto& [type, bound] :
       {std::pair{at::kFloat, 1e-3}, std::pair{at::kHalf, 2e-3}, std::pair{at::kBFloat16, 1e-2}}) {
    at::manual_seed(4);
    const auto on = at::TensorOptions(device());
    const Tensor images = at::randn({16, 3, 224, 224}, on).to(type);
    const Tensor one = at::randn({64, 3, 7, 7}, on).to(type).requires_grad_();
    const Tensor other = one.detach().to(at::kDouble).requires_grad_();
    const Tensor is = models::convolve_blocks(models::space_to_depth(images), one);
    const Tensor expected = at::conv2d(images.to(at::kDouble), other, {}, 2, 3);
    const Tensor gradient = at::randn_like(is);
    is.backward(gradient), expected.backward(gradient.to(at::kDouble));
    EXPECT_LT(distance(is, expected), bound) << type;
    EXPECT_LT(distance(one.grad(), other.grad()), bound) << type;
  }
}

class CudaNormalise : public OnGpu {};

TEST_F(CudaNormalise, GivesTheHostsValuesBitForBit) {
  const Tensor pixels = at::randint(256, {7, 33, 31, 3}, at::kLong).to(at::kByte);
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    EXPECT_TRUE(at::equal(train::Normaliser(device(), type)(pixels.to(device())).cpu(),
                          train::Normaliser(at::kCPU, type)(pixels)))
        << type;
    EXPECT_TRUE(
        at::equal(train::Normaliser(device(), type).space_to_depth(pixels.to(device())).cpu(),
                  models::space_to_depth(train::Normaliser(at::kCPU, type)(pixels))))
        << type;
  }
}

}  // namespace
}  // namespace feedrate::tests
