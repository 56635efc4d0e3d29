#include "session/capacity_search.h"

#include <gtest/gtest.h>

#include "device/published_rates.h"
#include "plan/expand.h"
#include "session/reads_in_flight_search.h"

namespace feedrate::tests {
namespace {

using session::Limit;

session::SearchedCell cell_to_search(const plan::AxisValues& others) {
  plan::AxisValues values{{"data", {"jpeg"}}, {"device", {"emulated:1000"}}, {"gpus", {"1"}}};
  for (const auto& [axis, typed] : others) values[axis] = typed;
  return session::searched_cell(plan::expand(values).at(0));
}

TEST(LimitBeyond, ComparesTheIntervals) {
  const measure::Estimate storage{1000, measure::Interval{950, 1050}};
  EXPECT_EQ(session::limit_beyond(storage, {2000, measure::Interval{1900, 2100}}), Limit::storage);
  EXPECT_EQ(session::limit_beyond(storage, {1000, measure::Interval{960, 1040}}), Limit::machine);
  // Of the means alone it would be the storage.
  EXPECT_EQ(session::limit_beyond(storage, {1200, measure::Interval{900, 1500}}), Limit::not_clear);
  EXPECT_EQ(session::limit_beyond(storage, {1120, {}}), Limit::not_clear);
  EXPECT_EQ(session::limit_beyond({1000, {}}, {1120, {}}), Limit::storage);
}

TEST(RateOf, HasAnIntervalOverThreeRunsOrOfTheirSteps) {
  const session::Reading one{.imgs_per_s = 100, .ci95 = measure::Interval{95, 105}},
      other{.imgs_per_s = 110, .ci95 = measure::Interval{100, 120}}, unknown{.imgs_per_s = 120};
  EXPECT_DOUBLE_EQ(session::rate_of({one}).ci95->high, 105);
  EXPECT_DOUBLE_EQ(session::rate_of({one, other}).ci95->low, 95);
  EXPECT_DOUBLE_EQ(session::rate_of({one, other}).ci95->high, 120);
  EXPECT_FALSE(session::rate_of({one, unknown}).ci95);
  const measure::Estimate of_three = session::rate_of({one, other, unknown});
  ASSERT_TRUE(of_three.ci95);
  EXPECT_LT(of_three.ci95->low, 100);
  EXPECT_GT(of_three.ci95->high, 120);
}

TEST(MedianOf, OneSpoiltRunDoesNotMoveIt) {
  const session::Reading good{.imgs_per_s = 100, .reads_per_s = 100, .p99_ms = 5},
      spoilt{.imgs_per_s = 10, .reads_per_s = 10, .p99_ms = {}};
  const session::Reading middle = session::median_of({good, spoilt, good});
  EXPECT_DOUBLE_EQ(middle.imgs_per_s, 100);
  EXPECT_DOUBLE_EQ(middle.reads_per_s, 100);
  EXPECT_DOUBLE_EQ(middle.p99_ms.value(), 5);
}

TEST(BurnsMuch, MoreThanATenthOfAStep) {
  const auto burning = [](const char* ms) {
    return cell_to_search({{"batch-size", {"100"}}, {"host-cpu-ms", {ms}}});  // steps of 100 ms
  };
  EXPECT_FALSE(session::burns_much(burning("0")));
  EXPECT_FALSE(session::burns_much(burning("9")));
  EXPECT_TRUE(session::burns_much(burning("11")));
}

TEST(SearchedCellWith, ReadsAsManyAndIsElseTheSame) {
  const session::SearchedCell asked = cell_to_search({{"io", {"uring"}}});
  const session::SearchedCell found =
      session::searched_cell_with(asked, {.workers = 4, .depth = 8});
  EXPECT_EQ(found.settings.workers, 4);
  EXPECT_EQ(found.settings.io_depth, 8);
  EXPECT_EQ(found.settings.io, "uring");
  EXPECT_DOUBLE_EQ(found.step_s, asked.step_s);
}

TEST(OwnH200Rate, IsKnownWhereItIsPublished) {
  bool is_published = false;
  for (const device::PublishedRate& rate : device::published_rates())
    is_published = is_published || rate.name == session::kOwnH200;
  EXPECT_EQ(session::own_h200_rate(cell_to_search({})).has_value(), is_published);
}

}  // namespace
}  // namespace feedrate::tests
