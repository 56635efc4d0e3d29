#include "judge/fairness.h"

#include <gtest/gtest.h>

#include <vector>

namespace feedrate::tests {
namespace {

using Rates = std::vector<judge::JobRates>;

TEST(Fairness, IsWholeWhereAllSharesAreAlike) {
  for (const double share : {0.01, 0.5, 1.0, 3.0})
    EXPECT_DOUBLE_EQ(judge::jains_index(std::vector(7, share)), 1) << share;
}

// k of n have the same share, the others nothing: k / n.
TEST(Fairness, IsThePartOfThoseThatHaveSomething) {
  for (std::size_t n = 1; n <= 12; ++n) {
    for (std::size_t k = 1; k <= n; ++k) {
      std::vector<double> shares(n, 0.0);
      for (std::size_t i = 0; i < k; ++i) shares[i] = 0.4;
      EXPECT_NEAR(judge::jains_index(shares), static_cast<double>(k) / static_cast<double>(n),
                  1e-12);
    }
  }
  EXPECT_EQ(judge::jains_index(std::vector(3, 0.0)), 1) << "nobody has more than another";
}

// (1 + x)^2 / (2 (1 + x^2)), whatever the unit.
TEST(Fairness, OfTwoJobsFollowsTheirRatio) {
  for (const double x : {0.1, 0.25, 0.5, 0.9}) {
    const double expected = (1 + x) * (1 + x) / (2 * (1 + x * x));
    for (const double unit : {1.0, 0.3})
      EXPECT_NEAR(judge::jains_index(std::vector{unit, unit * x}), expected, 1e-12) << x;
  }
}

// Each is measured against itself: a slow device is no unfairness.
TEST(Fairness, IsOfTheSharesNotOfTheRates) {
  const judge::Fairness equal = judge::fairness_of(Rates{{2400, 1200}, {100, 50}, {8, 4}});
  EXPECT_DOUBLE_EQ(equal.index, 1);
  EXPECT_EQ(equal.shares, (std::vector{0.5, 0.5, 0.5}));
  const judge::Fairness odd = judge::fairness_of(Rates{{1000, 500}, {100, 100}});
  EXPECT_NEAR(odd.index, 1.5 * 1.5 / (2 * 1.25), 1e-12);
}

// Of so many repetitions with these shares of each job.
judge::FairnessEstimate over(const std::vector<std::vector<double>>& repetitions) {
  std::vector<judge::Fairness> found;
  for (const std::vector<double>& shares : repetitions) {
    Rates rates;
    for (const double share : shares) rates.push_back({1000, 1000 * share});
    found.push_back(judge::fairness_of(rates));
  }
  return judge::fairness_over(found);
}

TEST(FairnessOver, OfOneRepetitionIsWhatItSays) {
  const auto found = over({{0.9, 0.5, 0.7}});
  EXPECT_NEAR(found.shares[1].mean, 0.5, 1e-12);
  EXPECT_FALSE(found.shares[1].ci95);
  EXPECT_NEAR(found.index.mean, judge::jains_index(std::vector{0.9, 0.5, 0.7}), 1e-12);
  EXPECT_EQ(found.least, std::vector<std::size_t>{1});
  EXPECT_EQ(found.starves, true);
  EXPECT_EQ(over({{0.97, 1.0}}).starves, false);
}

TEST(FairnessOver, TheSmallestShareStarvesFirst) {
  EXPECT_EQ(over({{0.9, 0.6, 0.7}}).least.front(), 1u);
  EXPECT_EQ(over({{0.5, 0.5}}).least.front(), 0u) << "the first of equals";
  EXPECT_EQ(over({{0.4}}).least.front(), 0u);
}

// Both jobs lose up to a half from one repetition to the next, the second always 5 % more.
TEST(FairnessOver, SharesArePairedWithinARepetition) {
  std::vector<std::vector<double>> repetitions;
  for (const double share : {0.9, 0.45, 0.6, 0.8, 0.5, 0.7})
    repetitions.push_back({share, 0.95 * share});
  const auto found = over(repetitions);
  EXPECT_LT(found.shares[0].ci95->low, found.shares[1].ci95->high) << "they overlap";
  EXPECT_EQ(found.least, std::vector<std::size_t>{1});
}

TEST(FairnessOver, JobsThatCannotBeToldApartAreAllNamed) {
  const auto found = over({{0.52, 0.9, 0.50}, {0.50, 0.9, 0.53}, {0.51, 0.9, 0.50}});
  EXPECT_EQ(found.least, (std::vector<std::size_t>{2, 0})) << "the least one first";
  EXPECT_EQ(found.starves, true);
}

TEST(FairnessOver, WhetherOneStarvesIsLeftOpenWhereTheIntervalHoldsBoth) {
  EXPECT_EQ(over({{0.97, 1}, {0.93, 1}, {0.95, 1}}).starves, std::nullopt);
  EXPECT_EQ(over({{0.98, 1}, {0.98, 1}, {0.981, 1}}).starves, false);
  EXPECT_EQ(over({{0.90, 1}, {0.90, 1}, {0.901, 1}}).starves, true);
}

// One of many jobs looks starved by chance. Its interval ends at 0.942: enough for one of two.
TEST(FairnessOver, OfManyJobsOneMustBeFurtherOff) {
  const auto among = [](std::size_t jobs) {
    std::vector<std::vector<double>> repetitions;
    for (const double share : {0.92, 0.94, 0.92, 0.94, 0.92, 0.94}) {
      repetitions.emplace_back(jobs, 1.0);
      repetitions.back().front() = share;
    }
    return over(repetitions);
  };
  EXPECT_LT(among(64).shares.front().ci95->high, 0.95);
  EXPECT_EQ(among(2).starves, true);
  EXPECT_EQ(among(64).starves, std::nullopt);
}

TEST(FairnessOver, TheIndexStaysWithinItsBounds) {
  const auto found = over({{1, 0.9}, {1, 0.99}, {1, 0.6}});
  ASSERT_TRUE(found.index.ci95);
  EXPECT_EQ(found.index.ci95->high, 1);
  EXPECT_LT(found.index.ci95->low, found.index.mean);
  EXPECT_GE(over({{1, 0.001}, {0.001, 1}, {0.9, 1}}).index.ci95->low, 0.5);
}

}  // namespace
}  // namespace feedrate::tests
