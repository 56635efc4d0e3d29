#include <gmock/gmock.h>

#include "judge/verdict.h"

namespace feedrate::tests {
namespace {

// A cell on CPUs whose device is busy for 99.8 % of the time, at `imgs_per_s` with 1 % to either
// side.
run::Measurement busy_at(double imgs_per_s) {
  run::Measurement m;
  m.imgs_per_s = imgs_per_s;
  m.window_s = 10;
  m.device_idle_fraction = 0.002;
  m.device_rate = {imgs_per_s / 0.998,
                   measure::Interval{0.99 * imgs_per_s / 0.998, 1.01 * imgs_per_s / 0.998}};
  m.step_ms.summary.mean = 1e3 * 64 / imgs_per_s;
  m.device.kind = "cpu";
  m.cpu_capacity = 2;
  m.stages[measure::Stage::decode] = {8'000'000'000, 8'200'000'000, 860, 0};
  return m;
}
judge::Ceiling ceiling_of(double imgs_per_s) {
  return {imgs_per_s, {imgs_per_s, measure::Interval{0.99 * imgs_per_s, 1.01 * imgs_per_s}}};
}
plan::CellSettings settings() {
  plan::CellSettings s;
  s.data = "png";
  s.batch_size = 64;
  s.feed = device::Feed::streamed;
  return s;
}

// Two CPUs for the step and the loaders: the step never waits, and takes 1.69 times as long.
TEST(Verdict, AStepThatIsSlowedIsInputBoundAlthoughItNeverWaits) {
  const auto verdict = judge::verdict_of(settings(), busy_at(86.3), ceiling_of(146));
  ASSERT_TRUE(verdict.slowdown);
  EXPECT_NEAR(verdict.slowdown->factor, 0.998 * 146 / 86.3, 1e-6);
  EXPECT_NEAR(verdict.slowdown->lost_fraction + 0.002, 1 - 86.3 / 146, 1e-3)
      << "waiting and slower steps are what is lost";
  EXPECT_THAT(verdict.sentence,
              testing::AllOf(testing::StartsWith("highly input-bound: the device waits only 0.2 %"),
                             testing::HasSubstr("1.69 times as long as at the ceiling"),
                             testing::HasSubstr("41 % of the CPUs that compute the steps")));
}

TEST(Verdict, StepsAsLongAsAtTheCeilingAreNotInputBound) {
  const auto verdict = judge::verdict_of(settings(), busy_at(145), ceiling_of(146));
  EXPECT_FALSE(verdict.slowdown->is_shown());
  EXPECT_EQ(verdict.sentence, "not input-bound: the device waits 0.2 % of the time");
}

// Beside synthetic steps, the loaders' rate is not the run's: nobody knows how busy they are.
TEST(Verdict, OfDiscardedBatchesItSaysWhatTheyCostTheSteps) {
  plan::CellSettings s = settings();
  s.cache = "discard";
  s.feed = device::Feed::synthetic;
  const auto verdict = judge::verdict_of(s, busy_at(86.3), ceiling_of(146));
  ASSERT_EQ(verdict.capacities.size(), 1u);
  EXPECT_EQ(verdict.capacities[0].resource, "device");
  EXPECT_THAT(verdict.sentence,
              testing::HasSubstr("1.69 times as long as at the ceiling (740.1 ms, there 438.4): "
                                 "the loaders take 41 % of the CPUs that compute the steps"));
}

// The loaders took 1 % of a CPU: no step can be a third longer by that.
TEST(Verdict, AMachineThatBecameSlowerIsNotTheInputsDoing) {
  run::Measurement m = busy_at(110);
  m.stages[measure::Stage::decode].cpu_ns = 100'000'000;
  EXPECT_EQ(judge::verdict_of(settings(), m, ceiling_of(146)).sentence,
            "not input-bound: the device waits 0.2 % of the time; a step takes 1.32 times as long "
            "as at the ceiling (580.7 ms, there 438.4), which is not the loaders' doing (0.01 of 2 "
            "CPUs): the machine itself was slower");
  m.device_rate.ci95 = std::nullopt;
  EXPECT_EQ(judge::verdict_of(settings(), m, ceiling_of(146)).sentence,
            "not input-bound: the device waits 0.2 % of the time")
      << "whatever its steps were";
  EXPECT_THAT(judge::verdict_of(settings(), busy_at(110), ceiling_of(146)).sentence,
              testing::StartsWith("highly input-bound"))
      << "four fifths of a CPU are enough";
}

// A fifth of the time is lost, the loaders can take a tenth of it.
TEST(Verdict, TheInputIsChargedWithWhatItsLoadersCanTake) {
  run::Measurement m = busy_at(110);
  m.stages[measure::Stage::decode].cpu_ns = 500'000'000;
  const std::string sentence = judge::verdict_of(settings(), m, ceiling_of(146)).sentence;
  EXPECT_THAT(sentence, testing::StartsWith("moderately input-bound: the device waits only 0.2 %"));
  EXPECT_THAT(sentence, testing::HasSubstr("which explains at most 10 % of the time: the machine "
                                           "itself was slower, too"));
}

// The work of augmenting is in the step: the loaders' CPU time says nothing of it.
TEST(Verdict, AStepThatAugmentsIsSlowedByThat) {
  plan::CellSettings augments = settings();
  augments.augment_on_device = true;
  run::Measurement m = busy_at(86.3);
  m.stages[measure::Stage::decode].cpu_ns = 1;
  EXPECT_THAT(judge::verdict_of(augments, m, ceiling_of(146)).sentence,
              testing::AllOf(testing::StartsWith("highly input-bound"),
                             testing::HasSubstr("the device augments within its steps")));
}

// 10 % slower, but the steps scatter by as much.
TEST(Verdict, NoMoreIsSaidThanTheIntervalCarries) {
  run::Measurement m = busy_at(132);
  m.device_rate.ci95 = measure::Interval{110, 156};
  const auto verdict = judge::verdict_of(settings(), m, ceiling_of(146));
  EXPECT_FALSE(verdict.slowdown->is_shown());
  EXPECT_EQ(
      verdict.sentence,
      "the device waits 0.2 % of the time; a step takes 1.10 times as long as at the ceiling, "
      "but the steps are too few or too uneven to be sure");
  m.device_rate.imgs_per_s = 141;
  EXPECT_THAT(judge::verdict_of(settings(), m, ceiling_of(146)).sentence,
              testing::EndsWith("its steps are too few or too uneven to tell whether they are "
                                "longer than at the ceiling"));
}

TEST(Verdict, AFewPercentAreSaidAndNotCalledInputBound) {
  const auto verdict = judge::verdict_of(settings(), busy_at(141.5), ceiling_of(146));
  EXPECT_THAT(verdict.sentence, testing::AllOf(testing::StartsWith("not input-bound"),
                                               testing::HasSubstr("1.03 times as long")));
  const auto near = judge::verdict_of(settings(), busy_at(140.5), ceiling_of(146));
  EXPECT_THAT(near.sentence, testing::StartsWith("perhaps moderately input-bound"))
      << "3.9 % are lost, and up to 5.4 % are within the interval";
}

TEST(Verdict, WithoutACeilingOrWithFewStepsNobodyKnows) {
  const auto without = judge::verdict_of(settings(), busy_at(86.3), std::nullopt);
  EXPECT_FALSE(without.slowdown);
  EXPECT_EQ(without.sentence,
            "the device waits 0.2 % of the time; no ceiling tells whether its steps are slowed");
  const judge::Ceiling of_few_steps{146, {146, std::nullopt}};
  const auto few = judge::verdict_of(settings(), busy_at(86.3), of_few_steps);
  EXPECT_FALSE(few.slowdown);
  EXPECT_THAT(few.sentence,
              testing::HasSubstr("1.69 times as long as at the ceiling, but the steps "
                                 "are too few or too uneven to be sure"));
}

// A device that the program keeps waiting although nothing is loaded loses nothing to the input.
TEST(Verdict, WhatTheCeilingWaitsTooIsNoLoss) {
  run::Measurement m = busy_at(146);
  m.device_idle_fraction = 0.06;
  const double working = 146 / 0.94;
  m.device_rate = {working, measure::Interval{0.99 * working, 1.01 * working}};
  const judge::Ceiling ceiling{146, m.device_rate};
  EXPECT_EQ(judge::verdict_of(settings(), m, ceiling).sentence,
            "not input-bound: the device waits 6.0 % of the time (6.0 % at the ceiling, too)");
  EXPECT_THAT(judge::verdict_of(settings(), m, ceiling_of(working)).sentence,
              testing::StartsWith("moderately input-bound: the device waits 6 % of the time"));
}

TEST(Verdict, WaitingAndSlowerStepsAreBothSaid) {
  run::Measurement m = busy_at(80);
  m.device_idle_fraction = 0.3;
  m.device_rate = {80 / 0.7, measure::Interval{0.99 * 80 / 0.7, 1.01 * 80 / 0.7}};
  const auto verdict = judge::verdict_of(settings(), m, ceiling_of(146));
  EXPECT_NEAR(verdict.slowdown->lost_fraction + 0.3, 1 - 80.0 / 146, 1e-6);
  EXPECT_THAT(verdict.sentence, testing::AllOf(testing::HasSubstr("waits 30 % of the time"),
                                               testing::HasSubstr("besides, a step takes 1.28")));
}

}  // namespace
}  // namespace feedrate::tests
