#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plan/two_stage.h"

namespace feedrate::tests {
namespace {

// A standard deviation of 0.01 over four values; t(0.975, 3) is 3.182.
const std::vector<double> kPilot = {-0.00866025, -0.00866025, 0.00866025, 0.00866025};

constexpr double kReach = plan::kWider * 3.182 * 0.01;

TEST(TwoStage, ThePilotAloneIsATInterval) {
  EXPECT_NEAR(plan::half_width(kPilot, 4), kReach / 2, 1e-5);
}

// Four more values that agree better do not make the interval narrower than by their number.
TEST(TwoStage, ThePilotsSpreadCountsToTheEnd) {
  std::vector<double> logs = kPilot;
  logs.insert(logs.end(), 4, 0.0);
  EXPECT_NEAR(plan::half_width(logs, 4), kReach / std::sqrt(8), 1e-5);
}

TEST(TwoStage, ALaterSpreadThatIsWiderCounts) {
  std::vector<double> logs = kPilot;
  for (const double x : {-0.05, 0.05, -0.05, 0.05}) logs.push_back(x);
  EXPECT_GT(plan::half_width(logs, 4), plan::half_width(logs, 8) - 1e-12);
  EXPECT_GT(plan::half_width(logs, 4), 0.03);
}

TEST(TwoStage, RepetitionsGrowWithTheSquareOfThePrecision) {
  for (const double target : {0.02, 0.01, 0.005, 0.001}) {
    const int needed = plan::repetitions_needed(kPilot, {.target = target, .pilot = 4});
    const double ratio = kReach / std::log1p(target);
    EXPECT_EQ(needed, std::max(4, static_cast<int>(std::ceil(ratio * ratio)))) << target;
  }
}

TEST(TwoStage, OutOfReachIsANumberToo) {
  EXPECT_EQ(plan::repetitions_needed(kPilot, {.target = 0, .pilot = 4}), 1'000'000);
  EXPECT_EQ(plan::repetitions_needed(kPilot, {.target = 1e-9, .pilot = 4}), 1'000'000);
  EXPECT_TRUE(std::isinf(plan::half_width(std::vector<double>{0.1, 0.2}, 5)));
}

TEST(TwoStage, WhatNeverScattersIsKnown) {
  const std::vector<double> same(5, -0.1);
  EXPECT_EQ(plan::half_width(same, 5), 0);
  EXPECT_EQ(plan::repetitions_needed(same, {.target = 0.01, .pilot = 5}), 5);
}

}  // namespace
}  // namespace feedrate::tests
