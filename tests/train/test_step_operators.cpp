#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/train/small_training.h"
#include "train/input_maker.h"
#include "train/trainer.h"

// What a graph can capture: a step that does the same each time, and asks nothing of the device.
namespace feedrate::tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// The operators that `body` calls, of any depth, in order.
std::vector<std::string> operators_in(const std::function<void()>& body) {
  static std::vector<std::string> seen;  // the callback takes no state
  seen.clear();
  const auto handle =
      at::addGlobalCallback(at::RecordFunctionCallback([](const at::RecordFunction& operation)
                                                           -> std::unique_ptr<at::ObserverContext> {
                              seen.emplace_back(operation.name());
                              return nullptr;
                            }).scopes({at::RecordScope::FUNCTION}));
  body();
  at::removeCallback(handle);
  return seen;
}

train::TrainerOptions fast(train::Precision precision, const char* batch_norm) {
  train::TrainerOptions options{
      .model = "resnet18", .classes = kClasses, .precision = precision, .seed = 5};
  const bool in_16_bits = precision != train::Precision::fp32;
  options.step = {
      .batch_norm = batch_norm, .master_weights = in_16_bits, .space_to_depth = in_16_bits};
  return options;
}

std::vector<std::vector<std::string>> operators_of_steps(const train::TrainerOptions& options,
                                                         int steps) {
  train::Trainer trainer(options);
  const auto [input, labels] = some_batch(0);
  const at::Tensor ready =
      train::as_input(input.contiguous(at::MemoryFormat::ChannelsLast), options.step)
          .to(train::input_type(options.precision));
  std::vector<std::vector<std::string>> all;
  for (int step = 0; step < steps; ++step)
    all.push_back(operators_in([&] { trainer.step(ready, labels); }));
  return all;
}

TEST(StepOperators, AreTheSameInEachStepAndNoneAsksTheDevice) {
  at::set_num_threads(1);
  for (const auto& [precision, batch_norm] :
       {std::pair(train::Precision::fp32, "library"), std::pair(train::Precision::bf16, "fused")}) {
    const auto steps = operators_of_steps(fast(precision, batch_norm), 5);
    ASSERT_GT(steps[3].size(), 100u);
    EXPECT_EQ(steps[3], steps[4]) << batch_norm;
    for (const char* asks : {"_local_scalar_dense", "nonzero", "aten::item", "is_nonzero",
                             "aten::equal", "masked_select", "aten::unique"})
      EXPECT_THAT(steps[4], Not(Contains(HasSubstr(asks)))) << batch_norm;
  }
}

// A gradient that comes in another order than the activations' is copied first.
TEST(StepOperators, NoGradientOfAFusedBatchNormIsCopied) {
  at::set_num_threads(1);
  train::Trainer trainer(fast(train::Precision::fp32, "fused"));
  const at::Tensor pictures = at::randn({4, 3, 64, 64}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto step = operators_in([&] { trainer.step(pictures, at::arange(4)); });
  bool in_ours = false;
  int ours = 0, copies = 0;
  for (const std::string& name : step) {
    if (name.starts_with("autograd::engine")) {
      in_ours = name.find("FusedBatchNorm") != std::string::npos;
      ours += in_ours ? 1 : 0;
    }
    copies += in_ours && name == "aten::copy_" ? 1 : 0;
  }
  EXPECT_EQ(ours, 17) << "of a ResNet-18's 20, three are in the passes of another";
  EXPECT_EQ(copies, 0);
}

// So the list of what asks can tell.
TEST(StepOperators, ALossThatIsReadIsSeen) {
  const at::Tensor loss = at::ones({});
  EXPECT_THAT(operators_in([&] { loss.item<double>(); }),
              Contains(HasSubstr("_local_scalar_dense")));
}

}  // namespace
}  // namespace feedrate::tests
