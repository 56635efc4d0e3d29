#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <utility>

#include "models/resnet.h"
#include "models/space_to_depth.h"

namespace feedrate::tests {
namespace {

using at::Tensor;

double distance(const Tensor& a, const Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

// Also for a single pixel and for odd sides.
TEST(SpaceToDepth, IsTheFirstConvolutionAndItsGradient) {
  at::manual_seed(3);
  for (const auto& [height, width] :
       {std::pair{1, 1}, {2, 3}, {7, 8}, {32, 32}, {33, 20}, {64, 65}}) {
    SCOPED_TRACE(testing::Message() << height << "x" << width);
    const Tensor images = at::randn({2, 3, height, width}, at::kDouble);
    const Tensor one = at::randn({8, 3, 7, 7}, at::kDouble).requires_grad_();
    const Tensor other = one.detach().clone().requires_grad_();
    const Tensor expected = at::conv2d(images, one, {}, /*stride=*/2, /*padding=*/3);
    const Tensor is = models::convolve_blocks(models::space_to_depth(images), other);
    ASSERT_EQ(is.sizes(), expected.sizes());
    EXPECT_LT(distance(is, expected), 1e-14);
    const Tensor gradient = at::randn_like(expected);
    expected.backward(gradient), is.backward(gradient);
    EXPECT_LT(distance(other.grad(), one.grad()), 1e-14);
  }
}

TEST(SpaceToDepth, FillsWholePacksInChannelsLast) {
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const Tensor blocks = models::space_to_depth(at::ones({2, 3, 224, 225}).contiguous(format));
    EXPECT_EQ(blocks.sizes(), (std::vector<std::int64_t>{2, 16, 115, 116}));
    EXPECT_TRUE(blocks.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_EQ(blocks.sum().item<float>(), 2 * 3 * 224 * 225) << "every value once, else zeros";
  }
}

TEST(SpaceToDepth, GivesAResNetsLogitsAndGradients) {
  at::manual_seed(4);
  models::ResNet model = models::make_resnet("resnet18", 10);
  model->to(at::kDouble);
  const Tensor images = at::randn({3, 3, 40, 33}, at::kDouble);
  const auto pass = [&](const Tensor& input) {
    model->zero_grad();
    const Tensor logits = model->forward(input);
    logits.square().sum().backward();
    return std::pair{logits.detach(), model->parameters()[0].grad().clone()};
  };
  const auto [logits, gradient] = pass(images);
  const auto [by_blocks, gradient_by_blocks] = pass(models::space_to_depth(images));
  EXPECT_LT(distance(by_blocks, logits), 1e-10);
  EXPECT_LT(distance(gradient_by_blocks, gradient), 1e-10);
}

}  // namespace
}  // namespace feedrate::tests
