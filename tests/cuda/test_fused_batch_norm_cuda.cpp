#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <string>
#include <vector>

#include "models/fused_batch_norm.h"
#include "models/space_to_depth.h"
#include "support_cuda.h"
#include "tests/models/batch_norm_forms.h"
#include "train/normalise.h"

namespace feedrate::tests {
namespace {

class CudaBatchNorm : public OnGpu {};

// Each of the ways that a step takes, and that the tests behind this one trust.
TEST_F(CudaBatchNorm, IsTheStepsOneByOneInDouble) {
  struct Shape {
    int pictures, channels, side;
  };
  for (const Shape& s : {Shape{3, 8, 5}, Shape{16, 64, 56}, Shape{16, 256, 56}, Shape{16, 512, 28},
                         Shape{16, 2048, 7}}) {
    // fp32: a ReLU whose input is within rounding of zero may turn, which is 4e-4 of the norm for
    // each.
    for (const auto& [type, bound] : {std::pair{at::kFloat, 2e-3}, std::pair{at::kHalf, 2e-3},
                                      std::pair{at::kBFloat16, 1e-2}}) {
      const BatchNormCase shape{s.pictures, s.channels, s.side, s.side, type};
      const Pass in = batch_norm_input(shape, 0.3, device());
      ASSERT_TRUE(models::fits_fused_batch_norm(in.x));
      for (const Form form : kForms) {
        SCOPED_TRACE(testing::Message() << shape << ", form " << static_cast<int>(form));
        const Pass ours = fused(in, form);
        expect_near(ours, in_double(in, form), bound);
        EXPECT_TRUE(at::equal(ours.of_x, fused(in, form).of_x)) << "twice the same";
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
        EXPECT_LT(distance_to(ours[i], librarys[i].to(at::kDouble)), bound)
            << type << " " << side << ", result " << i;
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
    EXPECT_LT(distance_to(is, expected), bound) << type;
    EXPECT_LT(distance_to(one.grad(), other.grad()), bound) << type;
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
