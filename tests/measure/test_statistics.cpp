#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "measure/statistics.h"

namespace feedrate::tests {
namespace {

TEST(Statistics, SummaryOfSpikesKeepsMeanAndMedianApart) {
  const std::vector<double> steps = {1040, 43, 89, 29};
  const measure::Summary s = measure::summarise(steps);
  EXPECT_DOUBLE_EQ(s.mean, 300.25);
  EXPECT_DOUBLE_EQ(s.median, 66);
  EXPECT_DOUBLE_EQ(s.max, 1040);
}

TEST(Statistics, QuantileIsNumpysDefault) {
  const std::vector<double> x = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(measure::quantile(x, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(measure::quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(measure::quantile(x, 1), 4);
}

TEST(Statistics, StudentTAgreesWithTheTables) {
  EXPECT_NEAR(measure::student_t_975(1), 12.706, 1e-3);
  EXPECT_NEAR(measure::student_t_975(20), 2.086, 1e-3);
  EXPECT_NEAR(measure::student_t_975(21), 2.0796, 1e-3);
  EXPECT_NEAR(measure::student_t_975(60), 2.0003, 1e-3);
  EXPECT_NEAR(measure::student_t_975(1000), 1.9623, 1e-3);
}

TEST(Statistics, BlockIntervalNeedsTwentySteps) {
  const std::vector<double> steps(19, 0.1);
  EXPECT_FALSE(measure::block_interval(steps, 10).has_value());
}

// Steps whose neighbours resemble each other (AR(1), 0.8): an interval from single steps would
// cover far too rarely; blocks have to hold about 95 %.
TEST(Statistics, BlockIntervalCoversWithAutocorrelatedSteps) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> noise(0, 1);
  int covered = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> steps;
    double state = noise(engine);
    for (int i = 0; i < 400; ++i) {
      state = 0.8 * state + 0.6 * noise(engine);
      steps.push_back(0.1 + 0.01 * state);
    }
    const auto interval = measure::block_interval(steps, 32);
    ASSERT_TRUE(interval.has_value());
    covered += interval->low <= 320 && 320 <= interval->high;
  }
  EXPECT_GT(covered, 0.91 * kRuns);
  EXPECT_LT(covered, 0.98 * kRuns);
}

}  // namespace
}  // namespace feedrate::tests
