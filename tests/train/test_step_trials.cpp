#include "train/step_trials.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "device/qualify.h"
#include "ranks/thread_groups.h"
#include "train/accelerators.h"

namespace feedrate::tests {
namespace {

device::StepSpec small_step(const char* precision) {
  return {.batch = {.batch_size = 8, .size = {32, 32}},
          .model = "resnet18",
          .classes = 16,
          .precision = precision,
          .threads = 1,
          .seed = 4};
}

device::StepOptions plain_step() {
  return {.channels_last = false,
          .batch_norm = "counted",
          .optimizer = "loop",
          .cudnn_benchmark = false};
}

// Each way of running the step is the same training, and is found to be.
TEST(StepTrials, RealOptionsPass) {
  for (const char* precision : {"fp32", "bf16"}) {
    const auto trials = train::cpu_kind().trials("", small_step(precision));
    const device::StepError plain = trials->error_of(plain_step());
    EXPECT_LT(plain.update, precision[0] == 'f' ? 0.05 : 0.6) << precision;
    EXPECT_GT(plain.update, 0) << precision;
    device::StepOptions all{.batch_norm = "fused", .master_weights = precision[0] == 'b'};
    EXPECT_EQ(device::why_wrong(trials->error_of(all), plain), "") << precision;
  }
}

// Rounding errors must not grow on their way through a deep network until all ways look wrong.
TEST(StepTrials, ADeepNetworkTellsRoundingFromErrors) {
  device::StepSpec spec = small_step("fp32");
  spec.model = "resnet50";
  const device::StepError plain = train::cpu_kind().trials("", spec)->error_of(plain_step());
  EXPECT_LT(plain.update, 0.1) << "0.006 to 0.03, by the machine; 0.9 without small residuals";
  EXPECT_LT(std::abs(plain.scale), 0.01);
}

// As a graph may be that is captured or replayed wrongly: one step of six is not made, or twice.
TEST(StepTrials, AnotherTrainingIsFoundToBeOne) {
  constexpr int kOdd = 3;
  int times = 1;  // that the odd step is made
  const auto make_runner = [&](const device::StepOptions& options) -> train::StepRunner {
    const auto made = std::make_shared<int>(0);
    const int odd = options.cuda_graph ? kOdd : -1;
    return [=, &times](const std::function<void()>& step) {
      for (int left = (*made)++ == odd ? times : 1; left > 0; --left) step();
    };
  };
  device::StepOptions captured = plain_step();
  captured.cuda_graph = true;
  const auto trials = train::make_step_trials(
      small_step("fp32"),
      {.name = "cpu",
       .prepare = [](train::Precision, const device::StepOptions&) { at::set_num_threads(1); },
       .make_runner = make_runner,
       .synchronize = [] {},
       .free_memory = [] {}});
  const device::StepError plain = trials->error_of(plain_step());
  for (times = 0; times <= 2; ++times) {
    const std::string wrong = device::why_wrong(trials->error_of(captured), plain);
    EXPECT_EQ(wrong.empty(), times == 1) << times << ": " << wrong;
  }
}

// As a kernel may give that is right for all but one shape.
TEST(StepTrials, OneWrongGradientIsFound) {
  for (const train::Precision precision : {train::Precision::fp32, train::Precision::bf16}) {
    const char* const name = precision == train::Precision::fp32 ? "fp32" : "bf16";
    std::string faulty;  // a parameter, where the step is captured
    double times = 0;    // its gradient
    const auto trials = train::make_step_trials(
        small_step(name),
        {.name = "cpu",
         .precision = precision,
         .prepare = [](train::Precision, const device::StepOptions&) { at::set_num_threads(1); },
         .make_runner = [](const device::StepOptions&) -> train::StepRunner {
           return [](const std::function<void()>& step) { step(); };
         },
         .synchronize = [] {},
         .free_memory = [] {},
         .made =
             [&](models::ResNet& network, const device::StepOptions& options) {
               if (!options.cuda_graph || faulty.empty()) return;
               network->named_parameters()[faulty].register_hook(
                   [&](const at::Tensor& gradient) { return gradient * times; });
             }});
    device::StepOptions captured = plain_step();
    captured.cuda_graph = true;
    const device::StepError plain = trials->error_of(plain_step());
    EXPECT_EQ(device::why_wrong(trials->error_of(captured), plain), "") << name;
    for (const char* parameter :
         {"layer2.0.conv1.weight", "layer3.1.bn2.weight", "layer1.0.bn1.bias"}) {
      faulty = parameter;
      for (times = 0; times <= 2; times += 2)
        EXPECT_NE(device::why_wrong(trials->error_of(captured), plain), "")
            << name << " " << parameter << " times " << times;
    }
  }
}

TEST(StepTrials, TimesNetworksThatTakeTurns) {
  const auto trials = train::cpu_kind().trials("", small_step("fp32"));
  for (const int batch : {8, 4, 8}) EXPECT_GT(trials->seconds(plain_step(), batch, 2), 0) << batch;
  EXPECT_GT(trials->seconds({}, 8, 1), 0);
}

}  // namespace
}  // namespace feedrate::tests
