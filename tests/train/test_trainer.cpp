#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/optim/sgd.h>

#include "train/trainer.h"

namespace feedrate::tests {
namespace {

at::Tensor some_input(int pictures) {
  at::manual_seed(1);
  return at::randn({pictures, 32, 32, 3}).permute({0, 3, 1, 2});
}

TEST(Trainer, MakesTheStepsOfTorchsSgd) {
  constexpr int kClasses = 7, kPictures = 8;
  train::Trainer trainer({.model = "resnet18", .classes = kClasses, .seed = 3});
  at::manual_seed(3);
  models::ResNet peer = models::make_resnet("resnet18", kClasses);
  models::to_channels_last(*peer);
  torch::optim::SGD sgd(peer->parameters(),
                        torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4));
  const at::Tensor input = some_input(kPictures);
  const at::Tensor labels = at::arange(kPictures).remainder(kClasses);
  for (int step = 0; step < 3; ++step) {
    const at::Tensor loss = trainer.step(input, labels);
    sgd.zero_grad();
    const at::Tensor expected = at::cross_entropy_loss(peer->forward(input), labels);
    expected.backward();
    sgd.step();
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-4 * expected.item<double>())
        << "step " << step;
  }
  const auto ours = trainer.model()->named_parameters();
  for (const auto& parameter : peer->named_parameters()) {
    EXPECT_TRUE(at::allclose(ours[parameter.key()], parameter.value(), 1e-3, 1e-5))
        << parameter.key();
  }
}

TEST(Trainer, IsInTheHandsOfItsSeed) {
  const at::Tensor input = some_input(4), labels = at::arange(4);
  const train::TrainerOptions options{.model = "resnet18", .classes = 4, .seed = 5};
  train::TrainerOptions other = options;
  other.seed = 6;
  const double loss = train::Trainer(options).step(input, labels).item<double>();
  EXPECT_EQ(train::Trainer(options).step(input, labels).item<double>(), loss);
  EXPECT_NE(train::Trainer(other).step(input, labels).item<double>(), loss);
}

TEST(Trainer, Bf16StaysNearFp32) {
  const at::Tensor input = some_input(8), labels = at::arange(8);
  train::TrainerOptions options{.model = "resnet18", .classes = 8, .seed = 5};
  const double fp32 = train::Trainer(options).step(input, labels).item<double>();
  options.precision = train::Precision::bf16;
  train::Trainer trainer(options);
  EXPECT_NEAR(trainer.step(input.to(at::kBFloat16), labels).item<double>(), fp32, 0.05 * fp32);
  for (const at::Tensor& p : trainer.model()->parameters()) EXPECT_EQ(p.scalar_type(), at::kFloat);
}

TEST(LossScale, UnscalesFiniteGradients) {
  train::LossScale scale(at::kCPU);
  const at::Tensor gradient = scale.scaled(at::tensor({1.0f, -0.25f}));
  EXPECT_EQ(scale.unscale({gradient}).item<float>(), 0);
  EXPECT_TRUE(at::equal(gradient, at::tensor({1.0f, -0.25f})));
}

TEST(LossScale, SkipsTheStepAndHalvesAfterAnOverflow) {
  train::LossScale scale(at::kCPU);
  const float before = scale.scaled(at::ones({})).item<float>();
  at::Tensor parameter = at::ones({2}).requires_grad_();
  train::Sgd sgd({parameter}, {});
  parameter.mutable_grad() = at::full({2}, INFINITY);
  sgd.step(scale.unscale(sgd.gradients()));
  EXPECT_TRUE(at::equal(parameter.detach(), at::ones({2})));
  EXPECT_FALSE(parameter.grad().defined());
  EXPECT_EQ(scale.scaled(at::ones({})).item<float>(), before / 2);
}

}  // namespace
}  // namespace feedrate::tests
