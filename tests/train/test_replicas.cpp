#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>

#include "ranks/thread_groups.h"
#include "tests/train/small_training.h"
#include "train/process_group.h"
#include "train/trainer.h"

// Several ranks train one network: here as threads, each with its own end of Gloo.
namespace feedrate::tests {
namespace {

using at::Tensor;

train::TrainerOptions options_of(train::Precision precision) {
  train::TrainerOptions options{
      .model = "resnet18", .classes = kClasses, .precision = precision, .seed = 5};
  options.sgd.learning_rate =
      5e-5;  // rounding must not grow: what is compared is where the ranks go
  options.step.master_weights = precision == train::Precision::bf16;
  return options;
}

// Rank r's batch of a step: another one in each rank.
std::pair<Tensor, Tensor> batch_of(int step, int rank, train::Precision precision) {
  auto [all, all_labels] = some_batch(100 * rank + step);
  const Tensor input = all.slice(0, 0, 8), labels = all_labels.slice(0, 0, 8);
  return {input.contiguous(at::MemoryFormat::ChannelsLast).to(train::input_type(precision)),
          labels};
}

struct State {
  std::vector<Tensor> initial, parameters, buffers;
  bool handed_over_first =
      true;  // at every step: the last gradients were handed over, then averaged
};

State state_of(train::Trainer& trainer) {
  State state;
  for (const Tensor& t : trainer.model()->parameters())
    state.parameters.push_back(t.detach().clone());
  for (const Tensor& t : trainer.model()->buffers()) state.buffers.push_back(t.detach().clone());
  return state;
}

State train_as_rank(device::Group& group, int steps, train::Precision precision,
                    const std::vector<std::pair<Tensor, Tensor>>& batches) {
  train::TrainerOptions options = options_of(precision);
  options.seed += static_cast<std::uint64_t>(group.rank());  // rank 0's weights must win
  options.replicas = train::make_process_group(group, at::kCPU);
  int handed_over = 0, averaged = 0;
  bool in_turn = true;
  options.watch = {.handed_over = [&] { ++handed_over; },
                   .averaged = [&] { in_turn = in_turn && ++averaged == handed_over; }};
  at::set_num_threads(1);
  train::Trainer trainer(options);
  State state = state_of(trainer);
  state.initial = std::move(state.parameters);
  for (int step = 0; step < steps; ++step) {
    const auto& [input, labels] = batches[static_cast<std::size_t>(step)];
    trainer.step(input, labels);
  }
  State end = state_of(trainer);
  state.parameters = std::move(end.parameters), state.buffers = std::move(end.buffers);
  state.handed_over_first = in_turn && averaged == steps;
  return state;
}

using Batches = std::vector<std::vector<std::pair<Tensor, Tensor>>>;  // of each rank, of each step

// Made beforehand: torch's generator is one for all threads.
Batches batches_of(int ranks, int steps, train::Precision precision) {
  Batches all(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (int step = 0; step < steps; ++step)
      all[static_cast<std::size_t>(rank)].push_back(batch_of(step, rank, precision));
  }
  return all;
}

std::vector<State> train_ranks(int ranks, int steps, train::Precision precision,
                               const Batches& batches) {
  const auto groups = ranks::make_thread_groups(ranks);
  std::vector<State> states(groups.size());
  std::vector<std::jthread> threads;
  for (std::size_t r = 0; r < groups.size(); ++r) {
    threads.emplace_back(
        [&, r] { states[r] = train_as_rank(*groups[r], steps, precision, batches[r]); });
  }
  threads.clear();
  return states;
}

TEST(Replicas, StayBitForBitTheSameNetwork) {
  for (const auto& [ranks, precision] :
       {std::pair{2, train::Precision::fp32}, std::pair{4, train::Precision::fp32},
        std::pair{2, train::Precision::bf16}}) {
    constexpr int kSteps = 20;
    const auto states = train_ranks(ranks, kSteps, precision, batches_of(ranks, kSteps, precision));
    for (std::size_t r = 1; r < states.size(); ++r) {
      for (std::size_t i = 0; i < states[0].parameters.size(); ++i) {
        ASSERT_TRUE(at::equal(states[r].initial[i], states[0].initial[i]))
            << ranks << " ranks, rank " << r << ", parameter " << i;
        ASSERT_TRUE(at::equal(states[r].parameters[i], states[0].parameters[i]))
            << ranks << " ranks, rank " << r << ", parameter " << i;
      }
      EXPECT_FALSE(at::equal(states[r].buffers[0], states[0].buffers[0]))
          << "each has its own running statistics, of its own pictures";
    }
    for (const State& state : states) EXPECT_TRUE(state.handed_over_first);
  }
}

// One process that adds up the gradients of the same batches: a network for each, so that each has
// its own running statistics, with the first one's weights.
std::vector<State> accumulate(int ranks, int steps, const Batches& batches,
                              const std::vector<Tensor>& initial) {
  std::vector<models::ResNet> networks;
  for (int r = 0; r < ranks; ++r) {
    networks.push_back(models::make_resnet("resnet18", kClasses));
    const auto parameters = networks.back()->parameters();
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(initial[i]);
    models::to_channels_last(*networks.back());
    models::use_batch_norm(*networks.back(), models::BatchNormKind::library);
    networks.back()->train();
  }
  const auto weights = networks[0]->parameters();
  train::Sgd sgd(weights, options_of(train::Precision::fp32).sgd);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t r = 0; r < networks.size(); ++r) {
      const auto& [input, labels] = batches[r][static_cast<std::size_t>(step)];
      (at::cross_entropy_loss(networks[r]->forward(input), labels) / ranks).backward();
    }
    const at::NoGradGuard no_grad;
    for (std::size_t r = 1; r < networks.size(); ++r) {
      const auto others = networks[r]->parameters();
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i].mutable_grad().add_(others[i].grad());
    }
    sgd.step();
    for (std::size_t r = 1; r < networks.size(); ++r) {
      const auto others = networks[r]->parameters();
      for (std::size_t i = 0; i < weights.size(); ++i)
        others[i].copy_(weights[i]), others[i].mutable_grad().reset();
    }
  }
  std::vector<State> states;
  for (models::ResNet& network : networks) {
    states.emplace_back();
    for (const Tensor& t : network->parameters()) states.back().parameters.push_back(t.detach());
    for (const Tensor& t : network->buffers()) states.back().buffers.push_back(t.detach());
  }
  return states;
}

double distance(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]).to(at::kDouble).square().sum().item<double>();
    norm += b[i].to(at::kDouble).square().sum().item<double>();
  }
  return std::sqrt(difference / norm);
}

// Rounding errors grow by leaps, where a value passes a ReLU's zero, on one machine at step 3, on
// another at step 10. So few steps, and the yardstick is the network that rank 0 would get without
// the others' gradients: one rank of four that is left out is a third of the way there.
TEST(Replicas, AreOneProcessThatAccumulates) {
  constexpr double kShare = 0.1;
  for (const auto& [ranks, steps] : {std::pair{2, 1}, std::pair{2, 3}, std::pair{4, 3}}) {
    const Batches batches = batches_of(ranks, steps, train::Precision::fp32);
    const auto replicas = train_ranks(ranks, steps, train::Precision::fp32, batches);
    const auto one = accumulate(ranks, steps, batches, replicas[0].initial);
    const State alone = accumulate(1, steps, {batches[0]}, replicas[0].initial)[0];
    const double bound = kShare * distance(alone.parameters, one[0].parameters);
    // The statistics of the first step are of the first weights, which are everybody's.
    constexpr double kLastDigits = 8.0 * std::numeric_limits<float>::epsilon();
    const double bound_of_buffers =
        std::max(kShare * distance(alone.buffers, one[0].buffers), kLastDigits);
    for (std::size_t r = 0; r < replicas.size(); ++r) {
      EXPECT_LT(distance(replicas[r].parameters, one[r].parameters), bound)
          << ranks << " ranks, " << steps << " steps, rank " << r;
      EXPECT_LT(distance(replicas[r].buffers, one[r].buffers), bound_of_buffers)
          << ranks << " ranks, " << steps << " steps, rank " << r;
    }
    RecordProperty("ranks_" + std::to_string(ranks) + "_steps_" + std::to_string(steps),
                   std::to_string(distance(replicas[0].parameters, one[0].parameters)) + " of " +
                       std::to_string(bound));
  }
}

}  // namespace
}  // namespace feedrate::tests
