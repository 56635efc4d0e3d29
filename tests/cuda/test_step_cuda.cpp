#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "measure/error.h"
#include "support_cuda.h"
#include "train/accelerators.h"
#include "train/devices_cuda.h"
#include "train/step_graphs_cuda.h"
#include "train/trainer.h"

namespace feedrate {
namespace {

using at::Tensor;

class CudaStep : public OnGpu {
 protected:
  TrainerOptions options(Precision precision, bool rungs) const {
    TrainerOptions o{.model = "resnet18", .classes = 8, .precision = precision, .device = device(), .seed = 5};
    o.sgd.learning_rate = 0.0005;
    o.sgd.fused = rungs;
    o.rungs = {.channels_last = rungs, .batch_norm = rungs ? "fused" : "counted", .master_weights = rungs};
    return o;
  }
  // Losses of steps on batches that lie in two places, by graphs or not.
  std::vector<double> losses(const TrainerOptions& o, int steps, bool graph) const {
    set_cuda_flags(o.precision, o.rungs);
    Trainer trainer(o);
    StepGraphs graphs(graph);
    std::array<std::pair<Tensor, Tensor>, 2> places;
    const Tensor loss = at::zeros({}, at::TensorOptions(device()).dtype(at::kFloat));
    std::vector<Tensor> all;
    for (int step = 0; step < steps; ++step) {
      auto& [input, labels] = places[static_cast<std::size_t>(step % 2)];
      auto [new_input, new_labels] = some_batch(step, o);
      if (!input.defined()) input = new_input.clone(), labels = new_labels.clone();
      input.copy_(new_input), labels.copy_(new_labels);
      graphs.run(static_cast<std::size_t>(step % 2), [&] { loss.copy_(trainer.step(input, labels)); });
      all.push_back(loss.clone());
    }
    std::vector<double> values;
    for (const Tensor& l : all) values.push_back(l.item<double>());
    return values;
  }

 private:
  // A class is a colour under noise that is another one each time.
  static std::pair<Tensor, Tensor> some_batch(int step, const TrainerOptions& o) {
    at::manual_seed(1000 + static_cast<std::uint64_t>(step));
    const Tensor labels = at::arange(16) % 8;
    const Tensor bits = at::stack({labels % 2, labels / 2 % 2, labels / 4}, 1).to(at::kFloat);
    Tensor input = at::randn({16, 3, 32, 32}) + 2 * bits.view({16, 3, 1, 1}) - 1;
    if (o.rungs.channels_last) input = input.contiguous(at::MemoryFormat::ChannelsLast);
    return {input.to(device()).to(input_type(o.precision)), labels.to(device())};
  }
};

// The band of docs/gpu.md: means of ten losses, over 200 steps, within 10 % of the first of the plain fp32 step's.
TEST_F(CudaStep, LearnsAsThePlainStepDoesInEveryPrecision) {
  const auto tens = [](const std::vector<double>& v) {
    std::vector<double> means;
    for (std::size_t i = 0; i < v.size(); i += 10) means.push_back(std::accumulate(v.begin() + i, v.begin() + i + 10, 0.0) / 10);
    return means;
  };
  const auto expected = tens(losses(options(Precision::fp32, false), 200, false));
  ASSERT_LT(expected.back(), 0.5 * expected.front());
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    for (const bool graph : {false, true}) {
      const auto ours = tens(losses(options(precision, true), 200, graph));
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], expected[i], 0.1 * expected.front()) << "precision " << static_cast<int>(precision) << ", graph " << graph << ", steps " << 10 * i;
      }
    }
  }
}

TEST_F(CudaStep, AsAGraphIsTheSameStep) {
  const auto eager = losses(options(Precision::fp32, true), 20, false), graph = losses(options(Precision::fp32, true), 20, true);
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_NEAR(graph[i], eager[i], 1e-3 * eager[i]) << "step " << i;
}

class CudaDevice : public OnGpu {
 protected:
  static std::unique_ptr<Accelerator> make(const StepSpec& spec) { return cuda_kind().make("", spec, *make_thread_groups(1).front()); }
  static std::string message_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

// Streamed batches by graphs, to their end: every step has a time, in order, and the slabs come back.
TEST_F(CudaDevice, ReplaysStreamedSteps) {
  for (const bool graph : {false, true}) {
    const StepSpec spec = small_spec(Feed::streamed, "bf16", graph, "fused");
    const auto cuda = make(spec);
    std::vector<StepRecord> steps;
    for (int i = 0; i < 30; ++i) {
      cuda->submit(some_host_batch(spec, i));
      cuda->collect(steps);
    }
    EXPECT_TRUE(cuda->settled());
    cuda->drain();
    cuda->collect(steps);
    ASSERT_EQ(steps.size(), 30u);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      EXPECT_GE(steps[i].start_ns, steps[i - 1].end_ns);
      EXPECT_GT(steps[i].end_ns, steps[i].start_ns);
    }
  }
}

TEST_F(CudaDevice, FindsANaN) {
  StepSpec spec = small_spec(Feed::streamed, "fp32", false, "library");
  spec.batch.dtype = Dtype::fp32;
  const auto cuda = make(spec);
  BatchLease batch = some_host_batch(spec, 1);
  std::fill_n(reinterpret_cast<float*>(batch->pixels), 64, std::nanf(""));
  EXPECT_THAT(message_of([&] {
                cuda->submit(std::move(batch));
                cuda->drain();
              }), ::testing::HasSubstr("NaN"));
}

TEST_F(CudaDevice, NamesTheBatchSizeThatDoesNotFit) {
  StepSpec spec = small_spec(Feed::synthetic, "fp32", false, "library");
  spec.batch = {.batch_size = 1 << 20, .size = {224, 224}};
  EXPECT_THAT(message_of([&] {
                const auto cuda = make(spec);
                for (int i = 0; i < 4; ++i) cuda->submit({});
                cuda->drain();
              }), ::testing::AllOf(::testing::HasSubstr("out of memory"), ::testing::HasSubstr("1048576")));
  const auto after = make(small_spec(Feed::synthetic, "fp32", false, "library"));
  after->submit({});
  after->drain();
}

}  // namespace
}  // namespace feedrate
