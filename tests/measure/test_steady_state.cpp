#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "measure/steady_state.h"
#include "tests/measure/step_series.h"

namespace feedrate::tests {
namespace {

std::vector<double> series(int n, double (*at)(int), unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> noise(1, 0.02);
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(at(i) * noise(engine));
  return x;
}

TEST(SteadyState, FlatStepsAreSteady) {
  for (unsigned seed = 0; seed < 50; ++seed)
    EXPECT_TRUE(measure::is_steady(series(100, [](int) { return 0.1; }, seed)));
}

TEST(SteadyState, SpikesEveryNAreSteady) {
  const auto spikes = series(400, [](int i) { return i % 20 == 19 ? 1.0 : 0.05; }, 1);
  EXPECT_TRUE(measure::is_steady(spikes));
}

TEST(SteadyState, RampsAreNot) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    EXPECT_FALSE(measure::is_steady(series(100, [](int i) { return 0.1 + 0.002 * i; }, seed)));
    EXPECT_FALSE(measure::is_steady(series(100, [](int i) { return 0.5 - 0.004 * i; }, seed)));
  }
}

TEST(SteadyState, AnEarlyStepIsForgotten) {
  EXPECT_TRUE(measure::is_steady(series(100, [](int i) { return i < 30 ? 1.0 : 0.1; }, 3)));
  EXPECT_FALSE(measure::is_steady(series(100, [](int i) { return i < 70 ? 1.0 : 0.1; }, 3)));
}

// scripts/validate-measurement does the same with more of them.
TEST(SteadyState, IsRightOnManyMadeUpSeries) {
  for (const char* kind : kSeriesKinds) {
    constexpr int kSeries = 150;
    int right = 0;
    for (std::uint64_t seed = 0; seed < kSeries; ++seed) {
      const StepSeries series = make_series(kind, seed);
      right += measure::is_steady(series.seconds) == series.steady;
    }
    EXPECT_GE(right, std::string(kind) == "ramp" ? kSeries : 0.93 * kSeries) << kind;
  }
}

TEST(SteadyState, AChangeInTheWindowIsSeen) {
  int ramps = 0, flat = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ramps += measure::is_changing(make_series("ramp", seed).seconds);
    for (const char* kind : {"flat", "periodic", "spikes"})
      flat += measure::is_changing(make_series(kind, seed).seconds);
  }
  EXPECT_GE(ramps, 95);
  EXPECT_LE(flat, 6) << "of 300";
  EXPECT_FALSE(measure::is_changing(std::vector<double>(19, 0.1)));
}

TEST(SteadyState, ExactStepsAreSteady) {
  EXPECT_TRUE(measure::is_steady(std::vector<double>(16, 0.1)));
}

TEST(SteadyState, FewStepsAreNeverSteady) {
  EXPECT_FALSE(measure::is_steady(std::vector<double>(15, 0.1)));
}

}  // namespace
}  // namespace feedrate::tests
