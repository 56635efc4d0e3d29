#include "cli/slow_step.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

plan::Cell cell_on(const char* device, const char* batch = "64", const char* model = "resnet50") {
  return plan::expand({{"device", {device}}, {"batch-size", {batch}}, {"model", {model}}}).front();
}

run::RunProgress steps_of(double seconds) {
  return {.phase = run::Phase::warming, .steps = 3, .elapsed_s = 3 * seconds, .remaining_s = -1};
}

TEST(SlowStep, SaysHowLongItTakesAndWhatToLower) {
  EXPECT_EQ(cli::slow_step_text(steps_of(16), cell_on("cpu"), {}, 2),
            "a step takes 16 s here, and a run 37 of them: the 2 runs take about 20 min; a faster "
            "answer: --batch-size 6, --input-size 64, --model resnet18");
  EXPECT_EQ(cli::slow_step_text(steps_of(16), cell_on("emulated:4"), {}, 1),
            "a step takes 16 s here, and a run 37 of them: this one takes about 10 min; a faster "
            "answer: --batch-size 6");
}

TEST(SlowStep, WaitingForBatchesIsNotTheModels) {
  run::RunProgress waiting = steps_of(4);
  waiting.device_idle = 0.9;
  const std::string text = cli::slow_step_text(waiting, cell_on("cpu"), {}, 1);
  EXPECT_TRUE(text.ends_with("--batch-size 25")) << text;
}

TEST(SlowStep, SaysNothingOfFastOnesOrWhereNothingCanBeLowered) {
  EXPECT_EQ(cli::slow_step_text(steps_of(0.5), cell_on("cpu"), {}, 100), "");
  EXPECT_EQ(cli::slow_step_text({}, cell_on("cpu"), {}, 1), "");
  EXPECT_EQ(cli::slow_step_text(steps_of(16), cell_on("emulated:0.1", "2"), {}, 1), "");
  run::RunLimits longer;
  longer.min_seconds = 200;
  EXPECT_EQ(cli::slow_step_text(steps_of(1), cell_on("cpu"), longer, 1), "") << "asked for";
}

}  // namespace
}  // namespace feedrate::tests
