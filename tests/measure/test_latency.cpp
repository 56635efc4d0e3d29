#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "measure/latency.h"

namespace feedrate::tests {
namespace {

using measure::LatencyHistogram;

TEST(Latency, BucketsAreNarrowAndInOrder) {
  std::mt19937_64 random(1);
  std::size_t before = 0;
  std::vector<std::int64_t> values;
  for (std::int64_t ns = 0; ns < 5000; ++ns) values.push_back(ns);
  for (int i = 0; i < 100'000; ++i)
    values.push_back(static_cast<std::int64_t>(random() >> (24 + random() % 40)));
  std::ranges::sort(values);
  for (const std::int64_t ns : values) {
    const std::size_t bucket = measure::latency_bucket(ns);
    ASSERT_LT(bucket, measure::kLatencyBuckets);
    ASSERT_GE(bucket, before) << ns;
    before = bucket;
    const std::int64_t middle = measure::latency_of_bucket(bucket);
    ASSERT_LE(std::abs(middle - ns), ns / 256 + (ns >= 256 ? 1 : 0)) << ns;
  }
}

TEST(Latency, WhatIsOutOfReachCountsAsTheEnds) {
  EXPECT_EQ(measure::latency_bucket(-5), 0U);
  EXPECT_EQ(measure::latency_bucket(std::int64_t{1} << 62), measure::kLatencyBuckets - 1);
}

// Within 1 % of the same percentile of all values.
TEST(Latency, PercentilesAreThoseOfTheValues) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> times(11, 1.2);
  measure::LatencyCounters counters;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(static_cast<std::int64_t>(times(random)));
    counters.add(values.back());
  }
  LatencyHistogram histogram;
  counters.add_to(histogram);
  EXPECT_EQ(histogram.count(), 50'000);
  std::ranges::sort(values);
  for (const double p : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto at = static_cast<std::size_t>(std::ceil(p * 50'000)) - 1;
    const auto expected = static_cast<double>(values[at]);
    EXPECT_NEAR(static_cast<double>(histogram.percentile_ns(p)), expected, 0.01 * expected) << p;
  }
}

TEST(Latency, NothingIsZero) {
  EXPECT_EQ(LatencyHistogram{}.percentile_ns(0.5), 0);
  EXPECT_EQ(LatencyHistogram{}.count(), 0);
}

// 1,000 are known, from 1 to 200 us, and nothing of some more.
TEST(Latency, APercentileThatUnknownOnesCanMoveIsUnknown) {
  measure::LatencyCounters counters;
  for (int us = 1; us <= 200; ++us)
    for (int i = 0; i < 5; ++i) counters.add(1000 * us);
  LatencyHistogram histogram;
  counters.add_to(histogram);
  for (const double p : {0.0, 0.5, 0.99, 1.0})
    EXPECT_EQ(histogram.percentile_ns(p, 0), histogram.percentile_ns(p)) << p;
  // Five can be all longer or all shorter: a percentile is one of two that lie 1 us apart.
  EXPECT_EQ(histogram.percentile_ns(0.5, 5), histogram.percentile_ns(0.5));
  EXPECT_EQ(histogram.percentile_ns(0.99, 5), histogram.percentile_ns(0.99));
  EXPECT_FALSE(histogram.percentile_ns(0.01, 5)) << "2 or 3 us";
  EXPECT_FALSE(histogram.percentile_ns(0.999, 5)) << "they may be the longest";
  EXPECT_FALSE(histogram.percentile_ns(1, 1));
  EXPECT_FALSE(histogram.percentile_ns(0.99, 11)) << "more than 1 % of all";
  EXPECT_FALSE(histogram.percentile_ns(0.5, 400)) << "anything from 60 to 140 us";
  EXPECT_FALSE(LatencyHistogram{}.percentile_ns(0.5, 3));
}

TEST(Latency, AWindowIsADifference) {
  measure::LatencyCounters counters;
  counters.add(1000);
  LatencyHistogram before, after;
  counters.add_to(before);
  for (int i = 0; i < 3; ++i) counters.add(5000);
  counters.add_to(after);
  after -= before;
  EXPECT_EQ(after.count(), 3);
  EXPECT_NEAR(static_cast<double>(after.percentile_ns(0)), 5000, 50);
}

}  // namespace
}  // namespace feedrate::tests
