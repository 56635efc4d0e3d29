#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "ranks/thread_groups.h"
#include "support_cuda.h"
#include "tests/message_of.h"
#include "tests/train/small_training.h"
#include "train/accelerators.h"
#include "train/devices_cuda.h"
#include "train/input_maker.h"
#include "train/step_graphs_cuda.h"
#include "train/trainer.h"

namespace feedrate::tests {
namespace {

using at::Tensor;

class CudaStep : public OnGpu {
 protected:
  train::TrainerOptions options(train::Precision precision, bool fast) const {
    train::TrainerOptions o{.model = "resnet18",
                            .classes = kClasses,
                            .precision = precision,
                            .device = device(),
                            .seed = 5};
    o.sgd.learning_rate = 0.0005;
    o.loss_scale = 256;  // so low that no step is skipped: those behind it would come late
    o.step = {.channels_last = fast,
              .batch_norm = fast ? "fused" : "counted",
              .optimizer = fast ? "fused" : "loop",
              .master_weights = fast,
              .space_to_depth = fast};
    return o;
  }
  // Losses of steps on batches that lie in two places, by graphs or not.
  std::vector<double> losses(const train::TrainerOptions& o, int steps, bool graph) const {
    train::set_cuda_flags(o.precision, o.step);
    train::Trainer trainer(o);
    device::StepOptions step_options = o.step;
    step_options.cuda_graph = graph;
    train::StepGraphs graphs(step_options, o.replicas ? 11 : device::GraphTurns::kEagerSteps);
    std::array<std::pair<Tensor, Tensor>, 2> places;
    const Tensor loss = at::zeros({}, at::TensorOptions(device()).dtype(at::kFloat));
    std::vector<Tensor> all;
    for (int step = 0; step < steps; ++step) {
      auto& [input, labels] = places[static_cast<std::size_t>(step % 2)];
      auto [new_input, new_labels] = some_batch(step);
      new_input = train::as_input(new_input.contiguous(at::MemoryFormat::ChannelsLast), o.step)
                      .to(device())
                      .to(train::input_type(o.precision));
      if (!input.defined()) input = new_input.clone(), labels = new_labels.to(device());
      input.copy_(new_input), labels.copy_(new_labels);
      graphs.run(static_cast<std::size_t>(step % 2),
                 [&] { loss.copy_(trainer.step(input, labels)); });
      all.push_back(loss.clone());
    }
    std::vector<double> values;
    for (const Tensor& l : all) values.push_back(l.item<double>());
    return values;
  }
};

// The band of docs/gpu.md: means of ten losses, over 200 steps, within 10 % of the first of the
// plain fp32 step's.
TEST_F(CudaStep, LearnsAsThePlainStepDoesInEveryPrecision) {
  const auto expected = tens(losses(options(train::Precision::fp32, false), 200, false));
  ASSERT_LT(expected.back(), 0.5 * expected.front());
  for (const train::Precision precision : {train::Precision::fp32, train::Precision::tf32,
                                           train::Precision::fp16, train::Precision::bf16}) {
    for (const bool graph : {false, true}) {
      const auto ours = tens(losses(options(precision, true), 200, graph));
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], expected[i], 0.1 * expected.front())
            << "precision " << static_cast<int>(precision) << ", graph " << graph << ", steps "
            << 10 * i;
      }
    }
  }
}

// Else the next attempt, with fewer images, would find the memory taken.
TEST_F(CudaStep, ACaptureThatFailsGivesItsMemoryBack) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const auto bytes_held = [] {
    allocator::emptyCache();
    return allocator::getDeviceStats(0).reserved_bytes[0].current;
  };
  const Tensor count = at::zeros({}, at::TensorOptions(device()).dtype(at::kFloat));
  const auto held_before = bytes_held();
  train::StepGraphs graphs({.cuda_graph = true}, /*eager_steps=*/0);
  const auto waits = [&] {
    const Tensor large = at::zeros({1 << 28}, count.options());
    (large.sum() + count).item<float>();  // a wait cannot be captured
  };
  EXPECT_THROW(graphs.run(0, waits), Error);
  EXPECT_LT(bytes_held(), held_before + (1 << 28));
  EXPECT_NO_THROW(at::randn({4}, count.options()));
  graphs.run(1, [&] { count.add_(1); });
  graphs.run(1, [&] { count.add_(1); });
  EXPECT_EQ(count.item<float>(), 2);
}

// What waits for a memset, and what it waits for, is in the same order; sums are wrong if one is
// missing, or comes too late.
TEST_F(CudaStep, KernelsTakeThePlaceOfAGraphsMemsets) {
  constexpr std::size_t kPitch = 64, kRowBytes = 20, kRows = 5;
  const auto bytes = at::TensorOptions(device()).dtype(at::kByte);
  const Tensor line = at::zeros({77}, bytes), rows = at::zeros({kRows, kPitch}, bytes);
  for (const bool kernels : {false, true}) {
    train::StepGraphs graphs({.cuda_graph = true, .memset_kernels = kernels}, /*eager_steps=*/0);
    for (int step = 0; step < 3; ++step) {
      line.fill_(9), rows.fill_(9);
      graphs.run(0, [&] {
        line.add_(1);
        cudaMemsetAsync(line.data_ptr(), 5, 77, stream());
        line.add_(1);
        cudaMemset2DAsync(rows.data_ptr(), kPitch, 3, kRowBytes, kRows, stream());
        rows.add_(1);
      });
    }
    EXPECT_TRUE(line.eq(6).all().item<bool>()) << kernels;
    EXPECT_TRUE(rows.slice(1, 0, kRowBytes).eq(4).all().item<bool>()) << kernels;
    EXPECT_TRUE(rows.slice(1, kRowBytes).eq(10).all().item<bool>()) << kernels;
    EXPECT_EQ(graphs.memsets_replaced(), kernels ? 2u : 0u);
  }
}

// Kernels that give the same bits each time: how far two eager runs are apart then is how far a
// graph may be.
TEST_F(CudaStep, AsAGraphIsTheSameStep) {
  at::Context& context = at::globalContext();
  const bool was = context.deterministicCuDNN();
  context.setDeterministicCuDNN(true);
  train::TrainerOptions slow = options(train::Precision::fp32, true);
  slow.sgd.learning_rate = 5e-5;  // rounding must not grow
  slow.step.cudnn_benchmark = false;
  const auto eager = losses(slow, 20, false), again = losses(slow, 20, false),
             graph = losses(slow, 20, true);
  context.setDeterministicCuDNN(was);
  double apart = 0;
  for (std::size_t i = 0; i < eager.size(); ++i)
    apart = std::max(apart, std::abs(again[i] / eager[i] - 1));
  EXPECT_LT(apart, 1e-5) << "two eager runs";
  for (std::size_t i = 0; i < eager.size(); ++i)
    EXPECT_NEAR(graph[i], eager[i], (2 * apart + 1e-6) * eager[i]) << "step " << i;
}

// Through NCCL and the Reducer, by itself and as a graph; there is nobody to average with.
TEST_F(CudaStep, WithOneRankOfNcclIsTheSameStep) {
  const auto groups = ranks::make_thread_groups(1);
  const auto alone = losses(options(train::Precision::bf16, true), 20, false);
  for (const bool graph : {false, true}) {
    train::TrainerOptions with = options(train::Precision::bf16, true);
    int handed_over = 0;
    with.replicas = train::make_process_group(*groups.front(), device());
    with.watch.handed_over = [&] { ++handed_over; };
    const auto ours = losses(with, 20, graph);
    EXPECT_GT(handed_over, 0);
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_NEAR(ours[i], alone[i], 1e-2 * alone[i]) << "step " << i << ", graph " << graph;
  }
}

class CudaDevice : public OnGpu {
 protected:
  static std::unique_ptr<device::Accelerator> make(const device::StepSpec& spec) {
    return train::cuda_kind().make("", spec, *ranks::make_thread_groups(1).front());
  }
};

// Streamed batches by graphs, to their end: every step has a time, in order, and the slabs come
// back.
TEST_F(CudaDevice, ReplaysStreamedSteps) {
  for (const bool graph : {false, true}) {
    const device::StepSpec spec = small_spec(device::Feed::streamed, "bf16", graph, "fused");
    const auto cuda = make(spec);
    std::vector<device::StepRecord> steps;
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
  device::StepSpec spec = small_spec(device::Feed::streamed, "fp32", false, "library");
  spec.batch.dtype = codec::Dtype::fp32;
  const auto cuda = make(spec);
  for (int i = 0; i < 6; ++i) cuda->submit(some_host_batch(spec, i));
  ASSERT_NO_THROW(cuda->drain()) << "there is none yet";
  pipeline::BatchLease batch = some_host_batch(spec, 1);
  std::fill_n(reinterpret_cast<float*>(batch->pixels), 64, std::nanf(""));
  EXPECT_FALSE(cuda->has_failed());
  cuda->submit(std::move(batch));
  for (int i = 0; i < 3; ++i)
    cuda->submit(some_host_batch(spec, i));  // the third waits for the first
  EXPECT_TRUE(cuda->has_failed()) << "within two steps, not at the run's end";
  EXPECT_THAT(message_of([&] { cuda->drain(); }), ::testing::HasSubstr("NaN"));
}

// What loading adds to the step, normalising, is not among the kernels that are compared.
TEST_F(CudaDevice, ACapturedStepIsOfItsCeilingsKernels) {
  std::vector<std::string> kernels;
  for (const device::Feed feed : {device::Feed::synthetic, device::Feed::streamed}) {
    const device::StepSpec spec = small_spec(feed, "bf16", true, "library");
    const auto cuda = make(spec);
    EXPECT_EQ(cuda->describe().kernels, "") << "nothing is captured yet";
    for (int i = 0; i < 10; ++i) {
      cuda->submit(feed == device::Feed::streamed ? some_host_batch(spec, i)
                                                  : pipeline::BatchLease());
    }
    cuda->drain();
    kernels.push_back(cuda->describe().kernels);
  }
  EXPECT_EQ(kernels[0].size(), 16u);
  EXPECT_EQ(kernels[0], kernels[1]);
}

TEST_F(CudaDevice, NamesTheBatchSizeThatDoesNotFit) {
  device::StepSpec spec = small_spec(device::Feed::synthetic, "fp32", false, "library");
  spec.batch = {.batch_size = 1 << 20, .size = {224, 224}};
  EXPECT_THAT(
      message_of([&] {
        const auto cuda = make(spec);
        for (int i = 0; i < 4; ++i) cuda->submit({});
        cuda->drain();
      }),
      ::testing::AllOf(::testing::HasSubstr("out of memory"), ::testing::HasSubstr("1048576")));
  const auto after = make(small_spec(device::Feed::synthetic, "fp32", false, "library"));
  after->submit({});
  after->drain();
}

}  // namespace
}  // namespace feedrate::tests
