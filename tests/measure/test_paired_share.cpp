#include "measure/paired_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace feedrate::tests {
namespace {

using measure::WorkPair;

TEST(PairedShare, IsTheRateOfAllBlocksOverThatOfAllTheCeilings) {
  const std::vector<WorkPair> pairs = {{{50, 1}, {100, 1}}, {{60, 1}, {200, 2}}};
  const auto found = measure::share_of_pairs(pairs);
  EXPECT_NEAR(found.share, (110 / 2.0) / (300 / 3.0), 1e-12);
  EXPECT_FALSE(found.ci95) << "two pairs give no interval";
}

// One block in ten is ten times as long: half of the time goes there. The mean of the pairs'
// logarithms would say 0.79.
TEST(PairedShare, ALongStepCountsForTheTimeThatItTook) {
  std::vector<WorkPair> pairs(9, {{100, 1}, {100, 1}});
  pairs.push_back({{100, 11}, {100, 1}});
  EXPECT_NEAR(measure::share_of_pairs(pairs).share, 0.5, 1e-12);
}

// What slows both blocks of a pair alike is in no share and in no interval.
TEST(PairedShare, TheMachinesSpeedCancels) {
  std::vector<WorkPair> pairs;
  for (const double speed : {1.0, 0.5, 0.9, 0.4})
    pairs.push_back({{30 * speed, 1}, {40 * speed, 1}});
  const auto found = measure::share_of_pairs(pairs);
  EXPECT_NEAR(found.share, 0.75, 1e-12);
  ASSERT_TRUE(found.ci95);
  EXPECT_NEAR(found.ci95->high / found.ci95->low, 1, 1e-6);
}

// How often the interval holds the truth; `correlation`: of the noise from pair to pair.
double coverage(std::size_t pairs, double noise, double correlation) {
  constexpr int kRuns = 4000;
  std::mt19937 random(static_cast<unsigned>(pairs));
  std::normal_distribution<double> normal;
  int held = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<WorkPair> all;
    double slow = normal(random);
    for (std::size_t p = 0; p < pairs; ++p) {
      slow = correlation * slow + std::sqrt(1 - correlation * correlation) * normal(random);
      const double machine = std::exp(0.3 * std::sin(0.7 * static_cast<double>(p)));
      all.push_back({{60 * machine * std::exp(noise * slow), 1},
                     {100 * machine * std::exp(noise * normal(random) / 2), 1}});
    }
    const auto found = measure::share_of_pairs(all);
    // The truth is that of the totals: of means of log-normal noise.
    const double truth = 0.6 * std::exp(noise * noise / 2) / std::exp(noise * noise / 8);
    held += found.ci95->low <= truth && truth <= found.ci95->high;
  }
  return static_cast<double>(held) / kRuns;
}

TEST(PairedShare, ItsIntervalHoldsTheTruth) {
  for (const std::size_t pairs : {3u, 5u, 8u, 20u, 60u}) {
    EXPECT_GE(coverage(pairs, 0.02, 0), 0.93) << pairs;
    EXPECT_LE(coverage(pairs, 0.02, 0), 0.985) << pairs;
  }
  EXPECT_GE(coverage(20, 0.1, 0), 0.93) << "rough steps";
  EXPECT_GE(coverage(40, 0.05, 0.5), 0.90) << "neighbouring pairs are alike";
}

}  // namespace
}  // namespace feedrate::tests
