#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "measure/steady_state.h"

namespace feedrate {
namespace {

std::vector<double> series(int n, double (*at)(int), unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> noise(1, 0.02);
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(at(i) * noise(engine));
  return x;
}

TEST(SteadyState, FlatStepsAreSteady) {
  for (unsigned seed = 0; seed < 50; ++seed) EXPECT_TRUE(is_steady(series(100, [](int) { return 0.1; }, seed)));
}

TEST(SteadyState, SpikesEveryNAreSteady) {
  const auto spikes = series(400, [](int i) { return i % 20 == 19 ? 1.0 : 0.05; }, 1);
  EXPECT_TRUE(is_steady(spikes));
}

TEST(SteadyState, RampsAreNot) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    EXPECT_FALSE(is_steady(series(100, [](int i) { return 0.1 + 0.002 * i; }, seed)));
    EXPECT_FALSE(is_steady(series(100, [](int i) { return 0.5 - 0.004 * i; }, seed)));
  }
}

TEST(SteadyState, AnEarlyStepIsForgotten) {
  EXPECT_TRUE(is_steady(series(100, [](int i) { return i < 30 ? 1.0 : 0.1; }, 3)));
  EXPECT_FALSE(is_steady(series(100, [](int i) { return i < 70 ? 1.0 : 0.1; }, 3)));
}

TEST(SteadyState, FewStepsAreNeverSteady) { EXPECT_FALSE(is_steady(std::vector<double>(15, 0.1))); }

}  // namespace
}  // namespace feedrate
