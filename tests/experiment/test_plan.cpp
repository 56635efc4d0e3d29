#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/sweep.h"

namespace feedrate {
namespace {

std::vector<Cell> cells() {
  return expand({{"device", {"emulated:a100"}}, {"data", {"synthetic", "jpeg", "png"}}, {"workers", {"1", "2"}},
                 {"gpus", {"1", "2"}}});
}

TEST(Plan, EachSettingOpensAndClosesWithItsCeiling) {
  const auto plan = plan_sweep(cells(), 1, 0);
  ASSERT_EQ(plan.size(), 2u * (1 + 4 + 1));
  for (const std::size_t first : {std::size_t{0}, std::size_t{6}}) {
    EXPECT_EQ(plan[first].role, "ceiling");
    EXPECT_EQ(plan[first].place, 0);
    EXPECT_EQ(plan[first + 5].role, "ceiling");
    EXPECT_EQ(plan[first + 5].place, 1);
    EXPECT_EQ(plan[first].cell, plan[first + 5].cell);
    for (std::size_t i = first + 1; i < first + 5; ++i) {
      EXPECT_EQ(plan[i].role, "cell");
      EXPECT_EQ(ceiling_of(plan[i].cell), plan[first].cell);
    }
  }
}

TEST(Plan, RepetitionsHoldTheSameCellsInOtherOrders) {
  const auto plan = plan_sweep(cells(), 6, 3);
  std::vector<std::vector<std::string>> orders(6);
  for (const PlannedRun& run : plan) orders[static_cast<std::size_t>(run.repetition)].push_back(run.cell.id());
  int changed = 0;
  for (std::size_t r = 1; r < 6; ++r) {
    changed += orders[r] != orders[0];
    EXPECT_TRUE(std::is_permutation(orders[r].begin(), orders[r].end(), orders[0].begin()));
  }
  EXPECT_GE(changed, 3);
}

TEST(Plan, IsAFunctionOfItsSeed) {
  const auto a = plan_sweep(cells(), 3, 5), b = plan_sweep(cells(), 3, 5);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].cell, b[i].cell);
}

TEST(Plan, SyntheticAloneIsMeasuredOncePerRepetition) {
  EXPECT_EQ(plan_sweep(expand({{"device", {"emulated:a100"}}}), 3, 0).size(), 3u);
}

TEST(Plan, TheCeilingIsAddedWhereItWasNotAskedFor) {
  const auto plan = plan_sweep(expand({{"device", {"emulated:a100"}}, {"data", {"jpeg"}}}), 1, 0);
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[0].cell["data"], "synthetic");
}

}  // namespace
}  // namespace feedrate
