#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/fused_batch_norm.h"
#include "models/resnet.h"
#include "tests/models/batch_norm_forms.h"

// The GPU's kernels, run block by block and thread by thread on the CPU, against the definition in
// fp64.
namespace feedrate::tests {
namespace {

class FusedBatchNorm : public ::testing::TestWithParam<BatchNormCase> {};

TEST_P(FusedBatchNorm, IsTheStepsOneByOneInDouble) {
  const Pass in = batch_norm_input(GetParam());
  ASSERT_TRUE(models::fits_fused_batch_norm(in.x));
  const double bound = GetParam().type == at::kFloat  ? 2e-6
                       : GetParam().type == at::kHalf ? 1e-3
                                                      : 6e-3;
  for (const Form form : kForms) {
    SCOPED_TRACE(static_cast<int>(form));
    expect_near(fused(in, form), in_double(in, form), bound);
  }
}

// Odd numbers of rows, packs and blocks, one row for a thread, and ResNet's own.
INSTANTIATE_TEST_SUITE_P(Shapes, FusedBatchNorm,
                         ::testing::Values(BatchNormCase{1, 4, 3, 3}, BatchNormCase{3, 20, 7, 3},
                                           BatchNormCase{5, 12, 1, 1}, BatchNormCase{5, 4, 31, 29},
                                           BatchNormCase{2, 64, 56, 56},
                                           BatchNormCase{2, 2048, 7, 7},
                                           BatchNormCase{3, 40, 9, 5, at::kBFloat16},
                                           BatchNormCase{2, 256, 14, 14, at::kBFloat16},
                                           BatchNormCase{5, 24, 9, 9, at::kHalf},
                                           BatchNormCase{2, 512, 7, 7, at::kHalf}));

TEST(FusedBatchNormNumbers, KeepTheVarianceWhereTheMeanIsLarge) {
  const Pass in = batch_norm_input({4, 8, 16, 16}, /*offset=*/1000);
  // A float near 1000 has 6e-5 between two values: 1e-4 of the deviation is lost in the input
  // already.
  expect_near(fused(in, Form::relu), in_double(in, Form::relu), 1e-4);
}

TEST(FusedBatchNormNumbers, DoNotDependOnChance) {
  const Pass in = batch_norm_input({3, 24, 11, 13});
  for (const Form form : {Form::add_relu, Form::join_relu}) {
    const Pass once = fused(in, form), again = fused(in, form);
    EXPECT_TRUE(at::equal(once.of_x, again.of_x));
    EXPECT_TRUE(at::equal(once.of_shortcut, again.of_shortcut));
    EXPECT_TRUE(at::equal(once.of_weight, again.of_weight));
  }
}

TEST(FusedBatchNormNumbers, KeepANaN) {
  Pass in = batch_norm_input({2, 8, 4, 4});
  in.x[1][3][2][2] = std::nanf("");
  for (const Form form : {Form::relu, Form::join_relu}) {
    const Pass out = fused(in, form);
    EXPECT_TRUE(out.y.select(1, 3).isnan().all().item<bool>());
    EXPECT_FALSE(out.y.select(1, 2).isnan().any().item<bool>());
  }
  std::swap(in.x, in.shortcut);
  const Pass out = fused(in, Form::join_relu);
  EXPECT_TRUE(out.y.select(1, 3).isnan().all().item<bool>());
  EXPECT_FALSE(out.y.select(1, 2).isnan().any().item<bool>());
}

// Of equal values the first is chosen, in 16 bits too, and one that rounding has made equal to a
// smaller one is still the larger.
TEST(FusedMaxPool, ChoosesTheLibrarysValue) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    Pass in = batch_norm_input({2, 8, 9, 12, type});
    in.x = (in.x * 4).round();  // many are equal
    in.state.bias.fill_(20);    // none is cut
    const Pass ours = fused(in, Form::relu_pool), exact = in_double(in, Form::relu_pool);
    EXPECT_TRUE(
        at::equal(ours.y, at::max_pool2d(models::fused_batch_norm_relu(in.x, in.state), 3, 2, 1)))
        << type;
    EXPECT_TRUE(ours.y.is_contiguous(at::MemoryFormat::ChannelsLast));
    // A gradient that goes to another value would be off by its own size.
    const double furthest = (ours.of_x.to(at::kDouble) - exact.of_x).abs().max().item<double>();
    EXPECT_LT(furthest, 0.03) << type;
  }
}

TEST(FusedMaxPool, KeepsANaNInItsChannel) {
  Pass in = batch_norm_input({2, 8, 5, 5});
  in.x[1][3][2][2] = std::nanf("");
  const Pass out = fused(in, Form::relu_pool);
  EXPECT_TRUE(out.y.select(1, 3).isnan().all().item<bool>());
  EXPECT_TRUE(out.of_x.select(1, 3).isnan().all().item<bool>());
  EXPECT_FALSE(out.of_x.select(1, 2).isnan().any().item<bool>());
}

// A reader may be absent (the last block's shortcut), and a gradient may come in another layout.
TEST(FusedBatchNormGradients, ComeFromEitherReaderInAnyLayout) {
  const Pass in = batch_norm_input({2, 8, 5, 5});
  const auto gradient_of_x = [&](bool from_main, const Tensor& gradient) {
    const Tensor x = in.x.clone().requires_grad_();
    const models::Forked y = models::fused_batch_norm_add_relu(x, in.shortcut, in.state);
    (from_main ? y.main : y.shortcut).backward(gradient);
    return x.grad();
  };
  const Tensor expected = gradient_of_x(true, in.gradient);
  EXPECT_TRUE(at::equal(gradient_of_x(false, in.gradient), expected));
  EXPECT_TRUE(at::equal(gradient_of_x(true, in.gradient.contiguous()), expected));
  const Tensor flat = at::ones({2, 8, 1, 1}).expand({2, 8, 5, 5});
  EXPECT_TRUE(at::equal(gradient_of_x(true, flat),
                        gradient_of_x(true, in_channels_last(at::ones({2, 8, 5, 5})))));
}

TEST(FusedBatchNormFits, WhatItsKernelsTake) {
  const Tensor x = at::randn({2, 8, 4, 4});
  EXPECT_TRUE(models::fits_fused_batch_norm(in_channels_last(x)));
  EXPECT_FALSE(models::fits_fused_batch_norm(x)) << "the memory is not rows of channels";
  EXPECT_FALSE(models::fits_fused_batch_norm(in_channels_last(x).to(at::kDouble)));
  EXPECT_FALSE(models::fits_fused_batch_norm(at::randn({4, 8})));
}

// The gradients of every parameter of a network, in its order.
std::vector<Tensor> gradients(const char* name, at::ScalarType type, models::BatchNormKind kind) {
  at::manual_seed(4);
  models::ResNet model = models::make_resnet(name, 10);
  models::to_channels_last(*model);
  model->to(type);
  models::use_batch_norm(*model, kind);
  at::manual_seed(5);
  const Tensor images = in_channels_last(at::randn({8, 3, 64, 64})).to(type);
  at::cross_entropy_loss(model->forward(images), at::arange(8)).backward();
  std::vector<Tensor> all;
  for (const Tensor& parameter : model->parameters()) all.push_back(parameter.grad());
  return all;
}

// Rounding goes through dozens of layers, each with ReLUs that a last bit can turn: the library's
// own gradients in float say how far that takes one from those in double.
TEST(FusedBatchNormInAResNet, GivesGradientsAsGoodAsTheLibrarys) {
  for (const char* name : {"resnet18", "resnet50"}) {
    const auto exact = gradients(name, at::kDouble, models::BatchNormKind::library);
    const auto library = gradients(name, at::kFloat, models::BatchNormKind::library);
    const auto ours = gradients(name, at::kFloat, models::BatchNormKind::fused);
    double worst_library = 0, worst_ours = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      worst_library = std::max(worst_library, distance_to(library[i], exact[i]));
      worst_ours = std::max(worst_ours, distance_to(ours[i], exact[i]));
    }
    EXPECT_LT(worst_ours, std::max(2 * worst_library, 0.05)) << name;  // 0.05: a few turned ReLUs
  }
}

}  // namespace
}  // namespace feedrate::tests
