#include "judge/gpu_search.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace feedrate::tests {
namespace {

// A storage that keeps `capacity` GPUs busy.
int run_until_known(judge::GpuSearch& search, double capacity) {
  int runs = 0;
  while (const auto gpus = search.next()) {
    const double utilisation = std::min(1.0, capacity / *gpus);
    search.add(*gpus, {utilisation, measure::Interval{utilisation - 0.001, utilisation + 0.001}});
    if (++runs > 60) return runs;
  }
  return runs;
}

TEST(GpuSearch, FindsTheClosedFormsNumber) {
  for (double capacity = 0.3; capacity < 56; capacity += 0.37) {
    judge::GpuSearch search({0.90, 0.95}, {1, 64, 2});
    EXPECT_LE(run_until_known(search, capacity), 18) << capacity;
    EXPECT_EQ(search.fed(0.90).gpus, static_cast<int>(capacity / 0.90)) << capacity;
    EXPECT_EQ(search.fed(0.95).gpus, static_cast<int>(capacity / 0.95)) << capacity;
    EXPECT_FALSE(search.fed(0.90).at_least);
  }
}

TEST(GpuSearch, KnowsWhatStarvesBeforeItIsOver) {
  judge::GpuSearch search({0.90}, {1, 64, 1});
  EXPECT_FALSE(search.starved(0.90));
  search.add(1, {1.0, std::nullopt});
  search.add(2, {0.95, std::nullopt});
  EXPECT_FALSE(search.starved(0.90));
  search.add(4, {0.5, std::nullopt});
  EXPECT_EQ(search.starved(0.90), 4);
  EXPECT_EQ(search.starved(0.99), 2);
}

TEST(GpuSearch, BeginsWhereItIsTold) {
  for (const int start : {1, 3, 20, 40}) {
    judge::GpuSearch search({0.90}, {start, 64, 1});
    run_until_known(search, 18.5);
    EXPECT_EQ(search.fed(0.90).gpus, 20) << start;
  }
}

TEST(GpuSearch, EndsAtTheMostThatIsTried) {
  judge::GpuSearch search({0.90, 0.95}, {1, 6, 1});
  run_until_known(search, 1000);
  EXPECT_EQ(search.fed(0.95).gpus, 6);
  EXPECT_TRUE(search.fed(0.95).at_least);
}

TEST(GpuSearch, StaysBelowWhatCannotBeMeasured) {
  judge::GpuSearch search({0.90}, {1, 64, 1});
  while (const auto gpus = search.next()) {
    if (*gpus > 5) {
      search.cannot(*gpus);
    } else {
      search.add(*gpus, {1.0, std::nullopt});
    }
  }
  EXPECT_LE(search.fed(0.90).gpus, 5);
  EXPECT_GE(search.fed(0.90).gpus, 4);
}

TEST(GpuSearch, TheIntervalHoldsTheNumbersThatTheRunsLeaveOpen) {
  judge::GpuSearch search({0.90}, {1, 64, 1});
  search.add(4, {0.99, measure::Interval{0.98, 1.0}});
  search.add(5, {0.91, measure::Interval{0.88, 0.94}});
  search.add(6, {0.89, measure::Interval{0.87, 0.91}});
  search.add(7, {0.80, measure::Interval{0.79, 0.81}});
  const judge::GpusFed fed = search.fed(0.90);
  EXPECT_EQ(fed.gpus, 5);
  EXPECT_EQ(fed.low, 4);
  EXPECT_EQ(fed.high, 6);
}

TEST(GpuSearch, AnIntervalMayNameNumbersThatWereNotTried) {
  judge::GpuSearch search({0.90}, {1, 64, 1});
  search.add(4, {1.0, measure::Interval{0.99, 1.0}});
  search.add(8, {0.60, measure::Interval{0.57, 0.64}});  // what keeps 4.56 to 5.12 GPUs at work
  const judge::GpusFed fed = search.fed(0.90);
  EXPECT_EQ(fed.gpus, 4);
  EXPECT_EQ(fed.low, 4);
  EXPECT_EQ(fed.high, 5);
}

// A storage that stands still for 2 s of a window of 4 s or so.
TEST(GpuSearch, OneSpoiltRunDoesNotChangeTheAnswer) {
  for (int spoilt = 0; spoilt < 20; ++spoilt) {
    judge::GpuSearch search({0.90, 0.95}, {1, 64, 3});
    int runs = 0;
    while (const auto gpus = search.next()) {
      const double utilisation = std::min(1.0, 36.5 / *gpus) * (runs == spoilt ? 0.5 : 1);
      search.add(*gpus, {utilisation, measure::Interval{utilisation, utilisation}});
      ASSERT_LT(++runs, 40) << spoilt;
    }
    EXPECT_EQ(search.fed(0.90).gpus, 40) << spoilt;
    EXPECT_EQ(search.fed(0.95).gpus, 38) << spoilt;
    EXPECT_LE(search.fed(0.90).low, 40);
    EXPECT_GE(search.fed(0.90).high, 40);
  }
}

TEST(GpuSearch, WhatContradictsALargerNumberIsMeasuredAgainAtOnce) {
  judge::GpuSearch search({0.90}, {1, 64, 3});
  search.add(1, {1.0, std::nullopt});
  search.add(2, {0.5, std::nullopt});
  search.add(4, {1.0, std::nullopt});
  EXPECT_EQ(search.next(), 2);
  search.add(2, {1.0, std::nullopt});
  EXPECT_EQ(search.next(), 2) << "of two that differ neither is known to be right";
  search.add(2, {1.0, std::nullopt});
  EXPECT_EQ(search.next(), 8);
}

TEST(GpuSearch, ARateThatFallsWithMoreGpusIsMeasuredAgain) {
  judge::GpuSearch search({0.90}, {1, 64, 2});
  search.add(4, {1.0, std::nullopt});
  search.add(8, {0.4, std::nullopt});  // the rate of 3.2 GPUs, after that of 4
  EXPECT_EQ(search.next(), 8);
  search.add(8, {0.4, std::nullopt});
  EXPECT_NE(search.next(), 8) << "it was believed";
}

TEST(GpuSearch, NotEvenOneIsFed) {
  judge::GpuSearch search({0.90}, {1, 64, 1});
  run_until_known(search, 0.5);
  EXPECT_EQ(search.fed(0.90).gpus, 0);
}

}  // namespace
}  // namespace feedrate::tests
