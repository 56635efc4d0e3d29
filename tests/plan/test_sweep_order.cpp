#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/sweep_order.h"
#include "tests/plan/two_settings.h"

namespace feedrate::tests {
namespace {

TEST(Plan, CellsAreMeasuredInPairsAndTheirCeilingsOnceWhereTheyWereAskedFor) {
  const auto plan = plan::plan_sweep(two_settings(), 1, 0);
  ASSERT_EQ(plan.size(), 2u * (1 + 4));
  for (const plan::PlannedRun& run : plan) {
    const bool is_synthetic = run.cell.is("data", "synthetic");
    EXPECT_EQ(run.role, is_synthetic ? plan::Role::opening_ceiling : plan::Role::cell);
    EXPECT_EQ(run.in_pairs, !is_synthetic);
  }
}

TEST(Plan, OnlyCellsThatCanGoOnBesideTheirCeilingAreInPairs) {
  const auto may_be = [](plan::AxisValues more) {
    more.merge(
        plan::AxisValues{{"device", {"emulated:a100"}}, {"data", {"jpeg"}}, {"workers", {"2"}}});
    return plan::may_be_in_pairs(plan::expand(more).at(0));
  };
  EXPECT_TRUE(may_be({}));
  EXPECT_TRUE(may_be({{"loader", {"batch"}}}));
  EXPECT_TRUE(may_be({{"cache", {"device"}}}));
  EXPECT_FALSE(may_be({{"data", {"synthetic"}}}));
  EXPECT_FALSE(may_be({{"page-cache", {"cold"}}})) << "one pass over the data";
  EXPECT_FALSE(may_be({{"loader", {"dali"}}})) << "it cannot pause";
  EXPECT_FALSE(may_be({{"io", {"direct"}}})) << "storage would rest meanwhile";
  EXPECT_FALSE(may_be({{"io", {"uring-direct"}}}));
  EXPECT_TRUE(may_be({{"io", {"uring"}}})) << "it reads the page cache";
  plan::Cell recorded = plan::expand({{"device", {"emulated:a100"}}, {"data", {"jpeg"}}}).front();
  EXPECT_TRUE(plan::may_be_in_pairs(recorded));
  recorded.set("device", "emulated:trace=0123456789abcdef");
  EXPECT_FALSE(plan::may_be_in_pairs(recorded)) << "blocks would replay different parts";
}

TEST(Plan, ACellThatIsNotInPairsSaysWhy) {
  const auto why = [](plan::AxisValues more) {
    more.merge(
        plan::AxisValues{{"device", {"emulated:a100"}}, {"data", {"jpeg"}}, {"workers", {"2"}}});
    return plan::why_not_in_pairs(plan::expand(more).at(0));
  };
  EXPECT_EQ(why({}), "");
  EXPECT_EQ(why({{"page-cache", {"cold"}}}), "a cold run is one pass over the data");
  EXPECT_EQ(why({{"loader", {"dali"}}}), "loader dali cannot pause");
}

TEST(Plan, CellsThatAreNotInPairsLieBetweenTwoRunsOfTheirCeiling) {
  const auto plan = plan::plan_sweep(cold(two_settings()), 1, 0);
  ASSERT_EQ(plan.size(), 2u * (1 + 4 + 1));
  for (const std::size_t first : {std::size_t{0}, std::size_t{6}}) {
    EXPECT_EQ(plan[first].role, plan::Role::opening_ceiling);
    EXPECT_EQ(plan[first + 5].role, plan::Role::closing_ceiling);
    EXPECT_EQ(plan[first].cell, plan[first + 5].cell);
    for (std::size_t i = first + 1; i < first + 5; ++i) {
      EXPECT_EQ(plan[i].role, plan::Role::cell);
      EXPECT_EQ(plan::ceiling_of(plan[i].cell), plan[first].cell);
    }
  }
}

TEST(Plan, RepetitionsHoldTheSameCellsInOtherOrders) {
  const auto plan = plan::plan_sweep(two_settings(), 6, 3);
  std::vector<std::vector<std::string>> orders(6);
  for (const plan::PlannedRun& run : plan)
    orders[static_cast<std::size_t>(run.repetition)].push_back(run.cell.id());
  int changed = 0;
  for (std::size_t r = 1; r < 6; ++r) {
    changed += orders[r] != orders[0];
    EXPECT_TRUE(std::is_permutation(orders[r].begin(), orders[r].end(), orders[0].begin()));
  }
  EXPECT_GE(changed, 3);
}

TEST(Plan, EverySettingComesFirstAndLastInSomeRepetition) {
  const auto cells = plan::expand({{"device", {"emulated:a100"}},
                                   {"data", {"synthetic", "jpeg"}},
                                   {"workers", {"1"}},
                                   {"gpus", {"1", "2", "4", "8"}}});
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    std::map<int, std::vector<std::string>> orders;  // of the settings, by repetition
    for (const plan::PlannedRun& run : plan::plan_sweep(cells, 60, seed)) {
      if (run.role == plan::Role::opening_ceiling)
        orders[run.repetition].push_back(run.cell["gpus"].value());
    }
    std::map<std::string, int> first, last;
    for (const auto& [repetition, order] : orders) ++first[order.front()], ++last[order.back()];
    for (const auto& times : {first, last}) {
      EXPECT_EQ(times.size(), 4u);
      for (const auto& [gpus, count] : times) EXPECT_GE(count, 2) << gpus << " GPUs, seed " << seed;
    }
  }
}

TEST(Plan, IsAFunctionOfItsSeed) {
  const auto a = plan::plan_sweep(two_settings(), 3, 5), b = plan::plan_sweep(two_settings(), 3, 5);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].cell, b[i].cell);
}

TEST(Plan, SyntheticAloneIsMeasuredOncePerRepetition) {
  EXPECT_EQ(plan::plan_sweep(plan::expand({{"device", {"emulated:a100"}}}), 3, 0).size(), 3u);
}

TEST(Plan, TheCeilingIsAddedWhereItWasNotAskedForButIsNeeded) {
  const auto cells = plan::expand({{"device", {"emulated:a100"}}, {"data", {"jpeg"}}});
  EXPECT_EQ(plan::plan_sweep(cells, 1, 0).size(), 1u) << "it is measured in pairs";
  const auto plan = plan::plan_sweep(cold(cells), 1, 0);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[0].cell["data"], "synthetic");
}

TEST(Plan, OneCellIsMeasuredInPairsOrBehindItsCeiling) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:a100"}}, {"data", {"jpeg"}}}).at(0);
  const auto paired = plan::plan_run(cell, true, true);
  ASSERT_EQ(paired.size(), 1u);
  EXPECT_TRUE(paired[0].in_pairs);
  EXPECT_EQ(plan::plan_run(cold({cell}).at(0), true, true).size(), 2u);
  const auto plan = plan::plan_run(cell, true, false);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].role, plan::Role::opening_ceiling);
  EXPECT_EQ(plan[0].cell, plan::ceiling_of(cell));
  EXPECT_EQ(plan[1].role, plan::Role::cell);
  const auto twice = plan::plan_run(cell, true, false, /*repetitions=*/2);
  ASSERT_EQ(twice.size(), 4u);
  EXPECT_EQ(twice[2].role, plan::Role::opening_ceiling);
  EXPECT_EQ(twice[3].repetition, 1);
  const auto alone = plan::plan_run(cell, false, true);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_FALSE(alone[0].in_pairs);
  const auto ceiling = plan::plan_run(plan::ceiling_of(cell), true, true);
  ASSERT_EQ(ceiling.size(), 1u);
  EXPECT_EQ(ceiling[0].role, plan::Role::opening_ceiling);
}

}  // namespace
}  // namespace feedrate::tests
