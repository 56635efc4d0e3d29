#include "text/time_left.h"

#include <gtest/gtest.h>

#include <vector>

namespace feedrate::tests {
namespace {

// Carries out runs of these lengths, and returns what was shown each half second of each of them,
// from the first run's end on.
std::vector<std::vector<double>> shown_while(const std::vector<double>& lengths_s) {
  text::TimeLeft left(1);
  std::vector<std::vector<double>> shown;
  double now_s = 100;
  for (std::size_t run = 0; run < lengths_s.size(); ++run) {
    left.begin(lengths_s.size() - run, now_s);
    if (left.is_known()) shown.emplace_back();
    for (double within_s = 0; within_s < lengths_s[run]; within_s += 0.5)
      if (left.is_known()) shown.back().push_back(left.at(now_s + within_s));
    now_s += lengths_s[run];
    left.end(/*is_whole=*/true, now_s);
  }
  return shown;
}

TEST(TimeLeft, OfRunsThatAreAlikeIsExact) {
  text::TimeLeft left(2);
  left.begin(4, 50);
  EXPECT_FALSE(left.is_known());
  EXPECT_EQ(left.at(50), 8) << "at least";
  EXPECT_EQ(left.at(51.5), 6.5);
  left.end(true, 60);
  left.begin(3, 60);
  EXPECT_TRUE(left.is_known());
  EXPECT_EQ(left.at(60), 30);
  EXPECT_EQ(left.at(64), 26);
  left.end(true, 70);
  left.begin(2, 70);
  EXPECT_EQ(left.at(70), 20);
  left.end(true, 80);
  left.begin(1, 80);
  EXPECT_EQ(left.at(89), 1);
  EXPECT_EQ(left.at(95), 0) << "it takes longer, and is about to end";
}

TEST(TimeLeft, RisesOnlyWhenARunHasEnded) {
  const std::vector<std::vector<double>> sweeps = {
      {5, 20, 5, 20, 5, 20}, {1, 30, 30, 30}, {30, 1, 1, 1, 30}, {7, 7, 7, 7}};
  for (const std::vector<double>& lengths_s : sweeps) {
    const auto shown = shown_while(lengths_s);
    ASSERT_EQ(shown.size(), lengths_s.size() - 1);
    for (const std::vector<double>& of_run : shown) {
      ASSERT_GT(of_run.size(), 1u);
      for (std::size_t i = 1; i < of_run.size(); ++i) EXPECT_LE(of_run[i], of_run[i - 1]);
      EXPECT_GT(of_run.front(), 0);
    }
  }
}

TEST(TimeLeft, IsNoLessThanTheRunsTakeAtLeast) {
  text::TimeLeft left(10);
  left.begin(5, 0);
  left.end(true, 10);
  left.begin(4, 10);
  EXPECT_EQ(left.at(10), 40);
  left.end(true, 60);
  left.begin(3, 60);
  EXPECT_EQ(left.at(60), 90) << "runs of 10 s and 50 s: 40 is refuted";
  EXPECT_EQ(left.at(110), 60);
  left.end(true, 110);
  left.begin(2, 110);
  EXPECT_DOUBLE_EQ(left.at(110), 2 * 110.0 / 3);
  left.end(true, 111);
  left.begin(1, 111);
  EXPECT_EQ(left.at(111), 27.75);
}

TEST(TimeLeft, AFailureSaysNothingOfTheOthers) {
  text::TimeLeft left(1);
  left.begin(4, 0);
  left.end(/*is_whole=*/false, 0.1);
  left.begin(3, 0.1);
  EXPECT_FALSE(left.is_known());
  left.end(true, 10.1);
  left.begin(2, 10.1);
  left.end(false, 10.2);
  left.begin(1, 11);
  EXPECT_EQ(left.at(11), 10);
}

TEST(TimeLeft, BeginsAnewWhereThereIsMoreToDo) {
  text::TimeLeft left(1);
  left.begin(2, 0);
  left.end(true, 10);
  left.begin(1, 10);
  EXPECT_EQ(left.at(19), 1);
  left.end(true, 20);
  left.begin(1, 20);  // once more
  EXPECT_EQ(left.at(20), 10);
  left.end(true, 30);
  left.begin(8, 30);  // another repetition
  EXPECT_EQ(left.at(30), 80);
}

}  // namespace
}  // namespace feedrate::tests
