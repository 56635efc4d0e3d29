#include "text/slow_step.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

plan::Cell cell_on(const char* device, const char* batch = "64", const char* model = "resnet50") {
  return plan::expand({{"device", {device}}, {"batch-size", {batch}}, {"model", {model}}}).front();
}

run::RunProgress steps_of(double seconds, int steps = 3) {
  return {.phase = run::Phase::warming,
          .steps = static_cast<std::size_t>(steps),
          .elapsed_s = steps * seconds,
          .remaining_s = -1};
}

TEST(SlowStep, SaysHowLongItTakesAndWhatToLower) {
  // 19 steps to see that they are steady, 20 to measure.
  EXPECT_EQ(text::slow_step_text(steps_of(2.5), cell_on("cpu"), false, {}),
            "a step takes 2.5 s here: this run takes about 2 min; faster, each by itself: "
            "--batch-size 32, --input-size 64, --model resnet18");
  EXPECT_EQ(text::slow_step_text(steps_of(2.5), cell_on("emulated:25"), false, {}),
            "a step takes 2.5 s here: this run takes about 2 min; faster: --batch-size 32");
}

// 8 steps of both kinds, 3 to warm up; then five pairs of blocks of four steps, and a step that
// each settles: 50.
TEST(SlowStep, InPairsThereIsAStepOfTheCeilingForEachOfTheCells) {
  const plan::Cell cell =
      plan::expand({{"device", {"cpu"}}, {"batch-size", {"64"}}, {"data", {"jpeg"}}}).front();
  EXPECT_EQ(text::slow_step_text(steps_of(2), cell, true, {}),
            "a step takes 2 s here: this run takes about 2 min; faster, each by itself: "
            "--batch-size 31, --input-size 64, --model resnet18");
  EXPECT_NE(text::slow_step_text(steps_of(5), cell, true, {}).find("has too few steps then"),
            std::string::npos);
}

// A warm-up of 60 s at most, and a window of 120.
TEST(SlowStep, ALimitEndsTheRunBeforeItHasItsSteps) {
  EXPECT_EQ(text::slow_step_text(steps_of(16), cell_on("emulated:4"), false, {}),
            "a step takes 16 s here: this run takes about 3 min, and has too few steps then "
            "(--max-seconds 320 would do); faster: --batch-size 6");
  run::RunLimits limits;
  limits.max_warmup_seconds = limits.max_seconds = 10;
  EXPECT_NE(text::slow_step_text(steps_of(100), cell_on("emulated:1"), false, limits)
                .find("a step takes 100 s here: this run takes about 7 min"),
            std::string::npos)
      << "three steps of warm-up and one of the window";
}

TEST(SlowStep, TheFirstStepTellsWhereItIsVerySlow) {
  run::RunProgress first{.elapsed_s = 42, .remaining_s = -1};
  EXPECT_NE(text::slow_step_text(first, cell_on("cpu"), false, {}).find("a step takes 42 s here"),
            std::string::npos);
  first.settled = false;
  EXPECT_EQ(text::slow_step_text(first, cell_on("cuda"), false, {}), "")
      << "it looks for kernels first";
}

TEST(SlowStep, WaitingForBatchesIsNotTheModels) {
  run::RunProgress waiting = steps_of(4);
  waiting.device_idle = 0.9;
  const std::string text = text::slow_step_text(waiting, cell_on("cpu"), false, {});
  EXPECT_TRUE(text.ends_with("faster: --batch-size 24")) << text;
}

TEST(SlowStep, SaysNothingOfFastOnesOrWhereNothingCanBeLowered) {
  EXPECT_EQ(text::slow_step_text(steps_of(0.5), cell_on("cpu"), false, {}), "");
  EXPECT_EQ(text::slow_step_text({}, cell_on("cpu"), false, {}), "");
  EXPECT_EQ(text::slow_step_text(steps_of(9, 1), cell_on("cpu"), false, {}), "")
      << "one may be slow";
  EXPECT_EQ(text::slow_step_text(steps_of(16), cell_on("emulated:0.1", "2"), false, {}), "");
  run::RunLimits longer;
  longer.min_seconds = 200;
  EXPECT_EQ(text::slow_step_text(steps_of(1), cell_on("cpu"), false, longer), "") << "asked for";
}

}  // namespace
}  // namespace feedrate::tests
