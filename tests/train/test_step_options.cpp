#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/graph_turns.h"
#include "tests/train/small_training.h"
#include "train/input_maker.h"
#include "train/trainer.h"

// Each way of running the step is the same training.
namespace feedrate::tests {
namespace {

using at::Tensor;

// The plain step: NCHW, the library's batch norm with its counter, one parameter after the other,
// fp32.
train::TrainerOptions plain() {
  train::TrainerOptions options{.model = "resnet18", .classes = kClasses, .seed = 5};
  options.step = {.channels_last = false, .batch_norm = "counted", .optimizer = "loop"};
  options.sgd.learning_rate = 0.0005;
  return options;
}

train::TrainerOptions with(train::Precision precision, bool master_weights) {
  train::TrainerOptions options = plain();
  options.precision = precision;
  options.step = {.channels_last = true,
                  .batch_norm = "fused",
                  .optimizer = "fused",
                  .master_weights = master_weights,
                  .space_to_depth = true};
  return options;
}

std::vector<double> losses(const train::TrainerOptions& options, int steps) {
  train::Trainer trainer(options);
  std::vector<double> all;
  for (int step = 0; step < steps; ++step) {
    auto [input, labels] = some_batch(step);
    input = train::as_input(input.contiguous(at::MemoryFormat::ChannelsLast), options.step);
    all.push_back(
        trainer.step(input.to(train::input_type(options.precision)), labels).item<double>());
  }
  return all;
}

// The band of docs/gpu.md: over 200 steps, the means of ten losses are within 10 % of the first one
// of each other, and the loss has fallen.
TEST(StepOptions, LearnAsThePlainStepDoes) {
  constexpr int kSteps = 200;
  const auto expected = tens(losses(plain(), kSteps));
  ASSERT_LT(expected.back(), 0.5 * expected.front())
      << "nothing was learnt: the comparison would say nothing";
  for (auto [name, options] : {std::pair{"fp32", with(train::Precision::fp32, false)},
                               std::pair{"bf16", with(train::Precision::bf16, true)}}) {
    options.step.batch_norm = "library";  // the GPU's kernels are slow here, see host_batch_norm()
    options.step.space_to_depth = options.precision == train::Precision::fp32;  // slow in bf16 here
    const auto ours = tens(losses(options, kSteps));
    double furthest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i)
      furthest = std::max(furthest, std::abs(ours[i] - expected[i]));
    RecordProperty(name, std::to_string(furthest / expected.front()));
    EXPECT_LT(furthest, 0.1 * expected.front()) << name;
  }
}

// The first steps, before rounding errors have grown, one step option at a time.
TEST(StepOptions, AreEachTheSameStep) {
  constexpr double kBounds[] = {2e-5, 1e-3,
                                1e-2};  // rounding grows tenfold and more with each step
  const auto expected = losses(plain(), 3);
  train::TrainerOptions last = plain(), norm = plain(), fused_norm = plain(), sgd = plain(),
                        stem = plain();
  last.step.channels_last = true;
  norm.step.batch_norm = "library";
  fused_norm.step.channels_last = true, fused_norm.step.batch_norm = "fused";
  sgd.step.optimizer = "fused";
  stem.step.channels_last = stem.step.space_to_depth = true;
  for (const train::TrainerOptions& options : {last, norm, fused_norm, sgd, stem}) {
    const auto ours = losses(options, 3);
    for (std::size_t i = 0; i < ours.size(); ++i)
      EXPECT_NEAR(ours[i], expected[i], kBounds[i] * expected[i]) << "step " << i;
  }
}

TEST(FusedSgd, MovesParametersAsTheLoopDoes) {
  at::manual_seed(8);
  const at::Tensor start = at::randn({50, 7});
  std::vector<at::Tensor> ends;
  for (const bool fused : {false, true}) {
    at::manual_seed(9);
    at::Tensor parameter = start.clone().requires_grad_();
    train::Sgd sgd({parameter}, {}, fused);
    for (int step = 0; step < 5; ++step) {
      parameter.mutable_grad() = at::randn({50, 7});
      sgd.step();
    }
    ends.push_back(parameter.detach());
  }
  EXPECT_TRUE(at::allclose(ends[0], ends[1], 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(ends[0], start, 1e-2, 1e-2));
}

TEST(MasterWeights, RoundAsAutocastDoes) {
  EXPECT_EQ(losses(with(train::Precision::bf16, true), 5),
            losses(with(train::Precision::bf16, false), 5));
}

TEST(MasterWeights, AreWhatTheOptimiserMoves) {
  train::Trainer trainer(with(train::Precision::bf16, true));
  const train::TrainerOptions options = with(train::Precision::bf16, true);
  auto [input, labels] = some_batch(0);
  trainer.step(train::as_input(input, options.step).to(at::kBFloat16), labels);
  for (const auto& parameter : trainer.model()->named_parameters()) {
    const bool of_batch_norm = parameter.key().find("bn") != std::string::npos ||
                               parameter.key().find("downsample.1") != std::string::npos;
    EXPECT_EQ(parameter.value().scalar_type(), of_batch_norm ? at::kFloat : at::kBFloat16)
        << parameter.key();
    EXPECT_FALSE(parameter.value().grad().defined()) << parameter.key();
  }
}

// A step far smaller than bf16's resolution must not be lost.
TEST(MasterWeights, KeepWhatA16BitWeightCannot) {
  Tensor weight = at::ones({4}).requires_grad_();
  train::MasterWeights masters({weight}, at::kBFloat16);
  train::Sgd sgd(masters.in_place_of({weight}),
                 {.learning_rate = 1e-3, .momentum = 0.5, .weight_decay = 0});
  for (int step = 0; step < 5; ++step) {
    weight.mutable_grad() = at::ones({4}, at::kBFloat16);
    masters.take_gradients();
    sgd.step();
    masters.publish();
  }
  // 1 - 0.001 * (1 + 1.5 + 1.75 + 1.875 + 1.9375) = 0.9919375, rounded to bf16 once; 1 - 0.001
  // alone is 1 in bf16.
  EXPECT_EQ(weight.detach().to(at::kFloat)[0].item<float>(), 0.9921875f);
}

TEST(BatchNormOption, MustBeKnown) {
  train::TrainerOptions options = plain();
  options.step.batch_norm = "sometimes";
  EXPECT_THROW(train::Trainer{options}, UsageError);
}

TEST(GraphTurns, RunFirstThenCaptureEachSlotOnceThenReplay) {
  device::GraphTurns turns(true);
  for (std::size_t step = 0; step < device::GraphTurns::kEagerSteps; ++step) {
    EXPECT_EQ(turns.next(step % 2), device::GraphTurn::eager);
    EXPECT_FALSE(turns.settled(2));
  }
  EXPECT_EQ(turns.next(1), device::GraphTurn::capture);
  EXPECT_EQ(turns.next(1), device::GraphTurn::replay);
  EXPECT_FALSE(turns.settled(2));
  EXPECT_EQ(turns.next(0), device::GraphTurn::capture);
  EXPECT_TRUE(turns.settled(2));
  EXPECT_EQ(turns.next(0), device::GraphTurn::replay);
}

TEST(GraphTurns, StayEagerWithoutGraphsAndSettleAfterTheFirst) {
  device::GraphTurns turns(false);
  EXPECT_FALSE(turns.settled(4));
  for (std::size_t step = 0; step < 10; ++step)
    EXPECT_EQ(turns.next(step % 4), device::GraphTurn::eager);
  EXPECT_TRUE(turns.settled(4));
}

}  // namespace
}  // namespace feedrate::tests
