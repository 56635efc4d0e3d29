#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "judge/slopes.h"
#include "tests/judge/made_up_evidence.h"

namespace feedrate::tests {
namespace {

using judge::BlockPair;
using judge::Servers;
using judge::Slope;
using measure::Place;

constexpr std::int64_t kSlopeMs = 1'000'000;
constexpr Servers kServers{.workers = 8, .cpus = 2, .images_per_step = 64};

std::vector<Slope> slopes_of(const std::vector<BlockPair>& pairs) {
  return judge::slopes_of(pairs, kServers);
}
// Pairs of one place, one for each slope.
Slope slope_of(const std::vector<double>& slopes) {
  std::vector<BlockPair> pairs;
  for (const double slope : slopes) pairs.push_back(pair_of(Place::step, false, slope, kServers));
  return slopes_of(pairs).at(0);
}

// n of them work at a time, and each needs `delay_s` longer.
double rate_with(double off, double delay_s, double n) { return 1 / (1 / off + delay_s / n); }

TEST(Slopes, APlaceThatTheRunWaitsForAloneHasSlopeOne) {
  const double off = 400;
  const std::vector<BlockPair> pairs = {
      {Place::worker, {3 * kSlopeMs, false}, rate_with(off, 3e-3, 8), off},
      {Place::worker, {3 * kSlopeMs, true}, rate_with(off, 3e-3, 2), off},
      {Place::copy, {30 * kSlopeMs, false}, rate_with(off, 30e-3, 64), off},
      {Place::step, {30 * kSlopeMs, false}, rate_with(off, 30e-3, 64), off},
      {Place::all_reduce, {30 * kSlopeMs, false}, rate_with(off, 30e-3, 64), off}};
  const auto slopes = slopes_of(pairs);
  ASSERT_EQ(slopes.size(), 5u);
  for (const Slope& slope : slopes) EXPECT_NEAR(slope.slope.mean, 1, 1e-9);
  EXPECT_NEAR(slopes[0].delay_ms, 3, 1e-9);
  EXPECT_NEAR(slopes[2].delay_ms, 30, 1e-9);
}

// A fifth more to read: 1.2 times the work.
TEST(Slopes, AStorageThatServesNoMoreReadsHasSlopeOne) {
  const measure::Delay reads = judge::delay_of(Place::storage, false, 400, kServers);
  const auto slopes = slopes_of({{Place::storage, reads, 400 / 1.2, 400}});
  EXPECT_NEAR(slopes.at(0).slope.mean, 1, 1e-9);
  EXPECT_NEAR(slopes.at(0).extra_reads, 0.2, 1e-9);
  EXPECT_EQ(slopes.at(0).delay_ms, 0);
}

TEST(Slopes, APlaceWithRoomToSpareHasSlopeZero) {
  const auto slopes = slopes_of({{Place::worker, {3 * kSlopeMs, false}, 400, 400}});
  EXPECT_NEAR(slopes.at(0).slope.mean, 0, 1e-12);
}

// The delay takes 20 % of what would show, and 9.5 % of it were to spare.
TEST(Slopes, HalfOfTheFullEffectIsSlopeOneHalf) {
  const double off = 400, full = 1.2;
  const BlockPair half{Place::step, judge::delay_of(Place::step, false, off, kServers),
                       off / std::sqrt(full), off};
  const auto slopes = slopes_of({half, half, half});
  EXPECT_NEAR(slopes.at(0).slope.mean, 0.5, 1e-6);
  EXPECT_NEAR(slopes.at(0).binds().value(), 0.5, 1e-3);
}

TEST(Slopes, DelaysAreChosenForTheSameFullEffectEverywhere) {
  for (const Place place : measure::kPlaces) {
    if (place == Place::in_flight) continue;  // whole reads alone can be withheld
    for (const bool burns : {false, true}) {
      const BlockPair pair{place, judge::delay_of(place, burns, 250, kServers), 0, 250};
      EXPECT_NEAR(judge::full_factor(pair, kServers), 1 + judge::kDelayShare, 1e-6);
    }
  }
}

// Eight threads sleep at the same time; on two CPUs, two of them compute.
TEST(Slopes, BurntDelaysAreSharedByTheCpusAndSleptOnesByTheWorkers) {
  EXPECT_EQ(judge::delay_of(Place::worker, false, 100, kServers).ns, 16 * kSlopeMs);
  EXPECT_EQ(judge::delay_of(Place::worker, true, 100, kServers).ns, 4 * kSlopeMs);
  const Servers many_cpus{.workers = 8, .cpus = 64, .images_per_step = 64};
  EXPECT_EQ(judge::delay_of(Place::worker, true, 100, many_cpus).ns, 16 * kSlopeMs)
      << "no more CPUs than workers";
  EXPECT_EQ(judge::delay_of(Place::step, false, 100, kServers).ns, 128 * kSlopeMs)
      << "of a whole step";
}

TEST(Slopes, AreInTheOrderOfPlacesSleptBeforeBurnt) {
  const auto slopes = slopes_of(
      {pair_of(Place::step, false, 1, kServers), pair_of(Place::worker, true, 1, kServers),
       pair_of(Place::copy, false, 1, kServers), pair_of(Place::worker, false, 1, kServers)});
  ASSERT_EQ(slopes.size(), 4u);
  EXPECT_EQ(slopes[0].place, Place::worker);
  EXPECT_FALSE(slopes[0].burns);
  EXPECT_EQ(slopes[1].place, Place::worker);
  EXPECT_TRUE(slopes[1].burns);
  EXPECT_EQ(slopes[2].place, Place::copy);
  EXPECT_EQ(slopes[3].place, Place::step);
}

TEST(Slopes, HaveAnIntervalFromThreePairsOn) {
  EXPECT_FALSE(slope_of({0.9, 1.1}).slope.ci95);
  const Slope three = slope_of({0.9, 1, 1.1});
  ASSERT_TRUE(three.slope.ci95);
  EXPECT_NEAR(three.slope.mean, 1, 1e-9);
  EXPECT_NEAR(three.slope.ci95->high - three.slope.mean, 4.303 * 0.1 / std::sqrt(3), 1e-4);
  EXPECT_NEAR(three.standard_error, 0.1 / std::sqrt(3), 1e-4);
}

TEST(Slopes, OnePairTellsNothing) { EXPECT_FALSE(slope_of({1}).binds()); }

// Whole reads of a worker: the nearest to what slows a run by a fifth, and one at least.
TEST(Slopes, WithheldReadsAreWholeOnes) {
  EXPECT_NEAR(judge::withheld_of(2).withheld, 1 / 2.0, 1e-9);
  EXPECT_NEAR(judge::withheld_of(4).withheld, 1 / 4.0, 1e-9);
  EXPECT_NEAR(judge::withheld_of(12).withheld, 2 / 12.0, 1e-9);
}

TEST(Slopes, ReadsInFlightThatLimitHaveSlopeOne) {
  const std::vector<BlockPair> pairs(3, {Place::in_flight, judge::withheld_of(4), 150, 200});
  const Slope slope = slopes_of(pairs).at(0);
  EXPECT_NEAR(slope.slope.mean, 1, 1e-9);
  EXPECT_NEAR(slope.withheld, 0.25, 1e-9);
  EXPECT_EQ(slope.delay_ms, 0);
  EXPECT_GT(slope.binds().value(), 0.95);
}

// With two reads in flight there was room for a delay of a fifth; with one there is none.
TEST(Slopes, OneOfTwoReadsThatIsMissedAFifthLaterDoesNotLimit) {
  const double room = 1.2;
  const std::vector<BlockPair> pairs(6, {Place::in_flight, judge::withheld_of(2), 100 * room, 200});
  const Slope slope = slopes_of(pairs).at(0);
  EXPECT_GT(slope.slope.mean, 0.7);
  EXPECT_LT(slope.binds().value(), 0.05);
}

TEST(Slopes, MorePairsOfTheSameScatterTellMore) {
  const double two = slope_of({0.6, 1}).binds().value(),
               six = slope_of({0.6, 1, 0.6, 1, 0.6, 1}).binds().value();
  EXPECT_GT(two, 0.5);
  EXPECT_LT(two, 0.9);
  EXPECT_GT(six, 0.9);
  EXPECT_NEAR(slope_of({0.4, 0, 0.4, 0, 0.4, 0}).binds().value(), 1 - six, 1e-6)
      << "as sure of the contrary";
}

// By Student's t of one degree: atan(t) / pi + 1/2.
TEST(Slopes, BindsIsTheProbabilityThatTheSlopeIsAboveOneHalf) {
  const Slope slope = slope_of({0.6, 1});  // mean 0.8, standard error 0.2
  EXPECT_NEAR(slope.binds().value(), 0.5 + std::atan(0.3 / 0.2) / M_PI, 1e-3);
}

TEST(Slopes, PairsThatAgreeByChanceAreNotKnownForCertain) {
  const Slope slope = slope_of({0.55, 0.55, 0.55});
  EXPECT_NEAR(slope.standard_error, 0.02, 1e-9);
  EXPECT_LT(slope.binds().value(), 0.95);
}

TEST(Slopes, PairsWithoutARateOrADelayAreLeftOut) {
  EXPECT_TRUE(slopes_of({{Place::copy, {kSlopeMs, false}, 0, 100},
                         {Place::copy, {kSlopeMs, false}, 100, 0},
                         {Place::copy, {0, false}, 100, 100}})
                  .empty());
}

}  // namespace
}  // namespace feedrate::tests
