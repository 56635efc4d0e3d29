#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/optim/sgd.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formula.h"
#include "models/resnet.h"

namespace feedrate::tests {
namespace {

using at::Tensor;

TEST(MakeResnet, HasThePapersParameterCounts) {
  const std::map<std::string, std::int64_t> counts{{"resnet18", 11'689'512},
                                                   {"resnet34", 21'797'672},
                                                   {"resnet50", 25'557'032},
                                                   {"resnet101", 44'549'160},
                                                   {"resnet152", 60'192'808}};
  ASSERT_EQ(models::resnet_configs().size(), counts.size());
  for (const models::ResNetConfig& config : models::resnet_configs()) {
    std::int64_t count = 0;
    for (const Tensor& p : models::make_resnet(config.name)->parameters()) count += p.numel();
    EXPECT_EQ(count, counts.at(std::string(config.name))) << config.name;
  }
}

TEST(MakeResnet, RefusesAnUnknownNameAndListsTheKnownOnes) {
  try {
    models::make_resnet("resnet51");
    FAIL() << "no error";
  } catch (const UsageError& error) {
    for (const models::ResNetConfig& config : models::resnet_configs()) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(std::string(config.name)));
    }
    EXPECT_THAT(error.what(), ::testing::HasSubstr("resnet51"));
  }
  EXPECT_THROW(models::make_resnet(""), UsageError);
  EXPECT_THROW(models::make_resnet("resnet50", 0), UsageError);
}

TEST(MakeResnet, TellsAsManyClassesApartAsAsked) {
  const Tensor images = formula::pictures(2, 32);
  EXPECT_EQ(models::make_resnet("resnet18", 7)->forward(images).sizes(), at::IntArrayRef({2, 7}));
}

TEST(ResidualScale, IsThatOfEachBlock) {
  for (const auto& [name, last, blocks] :
       {std::tuple{"resnet18", ".bn2.weight", 8}, {"resnet50", ".bn3.weight", 16}}) {
    models::ResNet network = models::make_resnet(name, 2);
    models::set_residual_scale(*network, 0.25);
    int scaled = 0;
    for (const auto& parameter : network->named_parameters()) {
      if (!parameter.value().eq(0.25).all().item<bool>()) continue;
      EXPECT_THAT(parameter.key(),
                  ::testing::AllOf(::testing::StartsWith("layer"), ::testing::EndsWith(last)));
      ++scaled;
    }
    EXPECT_EQ(scaled, blocks) << name;
  }
}

// 72 pixels: nothing divides evenly, and the last maps are 3 x 3.
TEST(Features, HalveFiveTimesRoundingUp) {
  models::ResNet model = models::make_resnet("resnet50", 10);
  EXPECT_EQ(model->features(formula::pictures(1, 72)).sizes(), at::IntArrayRef({1, 2048, 3, 3}));
}

TEST(BatchNormStatistics, MoveInTrainingOnlyAndTheCounterNever) {
  models::BatchNorm norm(3);
  const Tensor images = formula::pictures(4, 8) * 3 + 1;
  norm->eval();
  norm->forward(images);
  EXPECT_EQ(norm->named_buffers()["running_mean"].abs().sum().item<float>(), 0);
  norm->train();
  norm->forward(images);
  EXPECT_TRUE(at::allclose(norm->named_buffers()["running_mean"], images.mean({0, 2, 3}) * 0.1));
  EXPECT_TRUE(
      at::allclose(norm->named_buffers()["running_var"], images.var({0, 2, 3}) * 0.1 + 0.9));
  EXPECT_EQ(norm->named_buffers()["num_batches_tracked"].item<std::int64_t>(), 0);
}

TEST(BatchNormStatistics, FusedStepsAreTheStepsOneByOne) {
  models::BatchNorm norm(3);
  const Tensor x = formula::pictures(2, 16);
  const Tensor shortcut = formula::uniform("shortcut", {2, 3, 16, 16});
  EXPECT_TRUE(at::equal(norm->forward_relu(x), norm->forward(x).relu()));
  EXPECT_TRUE(
      at::equal(norm->forward_add_relu(x, shortcut).main, (norm->forward(x) + shortcut).relu()));
}

TEST(BatchNormStatistics, NeedMoreThanOneValuePerChannel) {
  models::ResNet model = models::make_resnet("resnet18", 2);
  EXPECT_THROW(model->forward(formula::pictures(1, 32)), Error);
  model->eval();
  EXPECT_NO_THROW(model->forward(formula::pictures(1, 32)));
}

class ChannelsLast : public ::testing::TestWithParam<const char*> {};

TEST_P(ChannelsLast, GivesTheSameLogitsAndFlowsThrough) {
  models::ResNet model = models::make_resnet(GetParam());
  formula::fill(*model);
  const Tensor images = formula::pictures(2, 72);
  const Tensor expected = model->forward(images);
  models::to_channels_last(*model);
  const Tensor images_last = images.contiguous(at::MemoryFormat::ChannelsLast);
  const Tensor features = model->features(images_last);
  EXPECT_TRUE(features.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_FALSE(features.is_contiguous());
  const Tensor logits = model->forward(images_last);
  EXPECT_LT((logits - expected).abs().max().item<float>(),
            1e-4F * expected.abs().max().item<float>());
  logits.sum().backward();
  for (const Tensor& parameter : model->parameters()) {
    EXPECT_EQ(parameter.grad().strides(), parameter.strides());
    if (parameter.dim() != 4) continue;
    EXPECT_TRUE(parameter.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, ChannelsLast, ::testing::Values("resnet18", "resnet50"),
                         [](const auto& tested) { return std::string(tested.param); });

// 32 pictures of four classes, each a colour of its own under noise.
std::pair<Tensor, Tensor> learnable_set() {
  const Tensor labels = at::arange(32, at::kLong) % 4;
  const Tensor colours = formula::uniform("colours", {4, 3, 1, 1});
  return {colours.index_select(0, labels) + formula::uniform("noise", {32, 3, 32, 32}) * 0.5,
          labels};
}

TEST(Training, LearnsATinySet) {
  torch::manual_seed(0);
  models::ResNet model = models::make_resnet("resnet18", 4);
  const auto [images, labels] = learnable_set();
  torch::optim::SGD optimiser(model->parameters(),
                              torch::optim::SGDOptions(0.02).momentum(0.9).weight_decay(1e-4));
  std::vector<float> losses;
  for (int step = 0; step < 10; ++step) {
    optimiser.zero_grad();
    const Tensor loss = at::cross_entropy_loss(model->forward(images), labels);
    loss.backward();
    optimiser.step();
    losses.push_back(loss.item<float>());
  }
  EXPECT_GT(losses.front(), 0.7F);
  EXPECT_LT(losses.back(), 0.1F * losses.front());
  EXPECT_TRUE(at::equal(model->forward(images).argmax(1), labels));
}

}  // namespace
}  // namespace feedrate::tests
