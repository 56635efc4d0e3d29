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
  for (const int degrees : {1, 2, 3, 4, 5, 8, 19, 20, 60, 1000}) {
    const double known = measure::student_t_975(degrees);
    EXPECT_NEAR(measure::student_t(0.95, degrees), known, 1e-3 * known) << degrees;
  }
  EXPECT_NEAR(measure::student_t(0.99, 2), 9.925, 1e-3);
  EXPECT_NEAR(measure::student_t(0.999, 5), 6.869, 1e-3);
  EXPECT_NEAR(measure::student_t(0.998, 7), 4.785, 1e-3);
  EXPECT_NEAR(measure::student_t(0.5, 1), 1, 1e-6);
}

// Closed forms of one and two degrees of freedom, and the tables' quantiles.
TEST(Statistics, StudentTBelow) {
  EXPECT_NEAR(measure::student_t_below(0, 5), 0.5, 1e-12);
  EXPECT_NEAR(measure::student_t_below(1, 1), 0.75, 1e-12);
  EXPECT_NEAR(measure::student_t_below(-1, 1), 0.25, 1e-12);
  EXPECT_NEAR(measure::student_t_below(3, 2), 0.5 + 3 / (2 * std::sqrt(2.0 + 9)), 1e-12);
  for (const int degrees : {1, 2, 3, 4, 7, 20}) {
    const double t = measure::student_t_975(degrees);
    EXPECT_NEAR(measure::student_t_below(t, degrees), 0.975, 1e-4) << degrees;
    EXPECT_NEAR(measure::student_t_below(-t, degrees), 0.025, 1e-4) << degrees;
  }
  EXPECT_EQ(measure::student_t_below(1, 0), measure::student_t_below(1, 1)) << "one at least";
  EXPECT_NEAR(measure::student_t_below(1e9, 3), 1, 1e-9);
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

// Four values whose standard deviation is 0.1; t(0.975, 3) is 3.182.
TEST(Statistics, ValuesOfRepetitionsHaveATInterval) {
  const double off = 0.1 * std::sqrt(0.75);
  const std::vector<double> values = {5 - off, 5 + off, 5 - off, 5 + off};
  EXPECT_NEAR(measure::t_half_width(values), 3.182 * 0.1 / 2, 1e-9);
  const measure::Estimate found = measure::estimate_of(values);
  EXPECT_DOUBLE_EQ(found.mean, 5);
  ASSERT_TRUE(found.ci95);
  EXPECT_NEAR(found.ci95->low, 5 - 0.1591, 1e-9);
  EXPECT_NEAR(found.ci95->high, 5 + 0.1591, 1e-9);
}

// The same on logarithms. A rate's mean is arithmetic, a share's geometric.
TEST(Statistics, RatesAndSharesOfRepetitionsHaveAnIntervalOfTheirLogarithms) {
  const std::vector<double> values = {100, 200, 400};
  const measure::Estimate rates = measure::estimate_of_rates(values);
  const measure::Estimate shares = measure::estimate_of_shares(values);
  EXPECT_NEAR(rates.mean, 700.0 / 3, 1e-9);
  EXPECT_NEAR(shares.mean, 200, 1e-9);
  const double half = 4.303 * std::log(2) / std::sqrt(3);
  for (const measure::Estimate& found : {rates, shares}) {
    ASSERT_TRUE(found.ci95);
    EXPECT_NEAR(found.ci95->low, 200 * std::exp(-half), 1e-9);
    EXPECT_NEAR(found.ci95->high, 200 * std::exp(half), 1e-6);
  }
}

// The expected values are the report's.
TEST(Statistics, AnIntervalEndsAtTheBoundAndReachesFarDown) {
  const auto rates = measure::estimate_of_rates(std::vector{1300.0, 1700.0, 2460.0, 2470.1}, 2470);
  ASSERT_TRUE(rates.ci95);
  EXPECT_NEAR(rates.ci95->low, 709.6, 0.5);
  EXPECT_EQ(rates.ci95->high, 2470);
  const auto shares = measure::estimate_of_shares(std::vector{0.90, 0.93, 0.99}, 1);
  ASSERT_TRUE(shares.ci95);
  EXPECT_NEAR(shares.ci95->low, 0.7384, 0.0005);
  EXPECT_EQ(shares.ci95->high, 1);
}

TEST(Statistics, AValueAboveTheBoundIsItsOwnUpperEnd) {
  const auto some = measure::estimate_of_shares(std::vector{1.02, 0.99, 1.01}, 1);
  ASSERT_TRUE(some.ci95);
  EXPECT_LT(some.ci95->low, 1);
  EXPECT_EQ(some.ci95->high, some.mean);
  const std::vector all = {1.04, 1.05, 1.06};
  EXPECT_EQ(measure::estimate_of_shares(all, 1).ci95->low,
            measure::estimate_of_shares(all).ci95->low)
      << "a bound that is shown to be wrong is none";
}

TEST(Statistics, TwoRepetitionsHaveNoInterval) {
  for (const std::vector<double>& values : {std::vector{0.5}, std::vector{0.5, 0.5}}) {
    EXPECT_FALSE(measure::estimate_of(values).ci95);
    EXPECT_FALSE(measure::estimate_of_rates(values).ci95);
    EXPECT_NEAR(measure::estimate_of_shares(values).mean, 0.5, 1e-15);
  }
}

TEST(Statistics, RepetitionsThatAgreeToTheLastBitProveNoTinyDifference) {
  const measure::Estimate found = measure::estimate_of_shares(std::vector(6, 1 - 1e-12));
  ASSERT_TRUE(found.ci95);
  EXPECT_GT(found.ci95->high, 1);
}

// By hand: of 1 to 10 the fifths are 1, 2 and 9, 10; winsorised 3 3 3 4 5 6 7 8 8 8, whose variance
// is 42.5 / 9; Yuen's standard error divides by the share that was kept.
TEST(TrimmedMean, HasYuensStandardError) {
  const std::vector<double> values = {7, 1, 10, 3, 5, 9, 2, 8, 4, 6};
  const measure::TrimmedMean found = measure::trimmed_mean(values);
  EXPECT_NEAR(found.mean, 5.5, 1e-12);
  EXPECT_NEAR(found.standard_error, std::sqrt(42.5 / 9) / (0.6 * std::sqrt(10)), 1e-12);
  EXPECT_EQ(found.degrees, 5);
  std::vector<double> spoilt = values;
  spoilt[2] = 1e9;
  EXPECT_EQ(measure::trimmed_mean(spoilt).standard_error, found.standard_error);
  const std::vector<double> four = {1, 2, 4, 5};  // nothing is cut off: the usual one
  EXPECT_NEAR(measure::trimmed_mean(four).standard_error, std::sqrt(10.0 / 3) / 2, 1e-12);
}

}  // namespace
}  // namespace feedrate::tests
