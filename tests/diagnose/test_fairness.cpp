#include "diagnose/fairness.h"

#include <gtest/gtest.h>

#include <vector>

namespace feedrate::tests {
namespace {

using Rates = std::vector<diagnose::JobRates>;

TEST(Fairness, IsWholeWhereAllSharesAreAlike) {
  for (const double share : {0.01, 0.5, 1.0, 3.0})
    EXPECT_DOUBLE_EQ(diagnose::jains_index(std::vector(7, share)), 1) << share;
}

// k of n have the same share, the others nothing: k / n.
TEST(Fairness, IsThePartOfThoseThatHaveSomething) {
  for (std::size_t n = 1; n <= 12; ++n) {
    for (std::size_t k = 1; k <= n; ++k) {
      std::vector<double> shares(n, 0.0);
      for (std::size_t i = 0; i < k; ++i) shares[i] = 0.4;
      EXPECT_NEAR(diagnose::jains_index(shares), static_cast<double>(k) / static_cast<double>(n),
                  1e-12);
    }
  }
  EXPECT_EQ(diagnose::jains_index(std::vector(3, 0.0)), 1) << "nobody has more than another";
}

// (1 + x)^2 / (2 (1 + x^2)), whatever the unit.
TEST(Fairness, OfTwoJobsFollowsTheirRatio) {
  for (const double x : {0.1, 0.25, 0.5, 0.9}) {
    const double expected = (1 + x) * (1 + x) / (2 * (1 + x * x));
    for (const double unit : {1.0, 0.3})
      EXPECT_NEAR(diagnose::jains_index(std::vector{unit, unit * x}), expected, 1e-12) << x;
  }
}

// Each is measured against itself: a slow device is no unfairness.
TEST(Fairness, IsOfTheSharesNotOfTheRates) {
  const diagnose::Fairness equal = diagnose::fairness_of(Rates{{2400, 1200}, {100, 50}, {8, 4}});
  EXPECT_DOUBLE_EQ(equal.index, 1);
  EXPECT_EQ(equal.shares, (std::vector{0.5, 0.5, 0.5}));
  const diagnose::Fairness odd = diagnose::fairness_of(Rates{{1000, 500}, {100, 100}});
  EXPECT_NEAR(odd.index, 1.5 * 1.5 / (2 * 1.25), 1e-12);
}

TEST(Fairness, TheSmallestShareStarvesFirst) {
  EXPECT_EQ(diagnose::fairness_of(Rates{{1000, 900}, {100, 60}, {10, 7}}).least, 1u);
  EXPECT_EQ(diagnose::fairness_of(Rates{{1000, 500}, {100, 50}}).least, 0u)
      << "the first of equals";
  EXPECT_EQ(diagnose::fairness_of(Rates{{1000, 400}}).least, 0u);
}

}  // namespace
}  // namespace feedrate::tests
