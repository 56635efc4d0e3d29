#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/resume.h"
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

TEST(Plan, WhatTheLedgerHoldsIsNotMissing) {
  const auto plan = plan_sweep(cells(), 2, 0);
  std::vector<nlohmann::ordered_json> records;
  for (const std::size_t i : {0u, 2u, 3u}) {
    records.push_back({{"cell_id", plan[i].cell.id()}, {"repetition", plan[i].repetition}, {"place", plan[i].place}, {"status", i == 3 ? "failed" : "ok"}});
  }
  const auto missing = missing_of(plan, records);
  ASSERT_EQ(missing.size(), plan.size() - 2);
  EXPECT_EQ(missing[0].cell, plan[1].cell);
  EXPECT_EQ(missing[1].cell, plan[3].cell) << "what failed is missing";
}

TEST(Plan, AnotherDeviceBehindTheSameNameIsSeen) {
  const auto record = [](const char* device, const char* name, const char* software) {
    return nlohmann::ordered_json{{"cell", {{"device", device}, {"gpus", 1}}}, {"device", {{"name", name}, {"software", software}}}};
  };
  const std::vector<nlohmann::ordered_json> before = {record("cuda", "H100", "2.11"), record("cpu", "Xeon", "2.11"), {{"cell", {{"device", "cuda"}, {"gpus", 1}}}}};
  EXPECT_TRUE(device_differences(before, record("cuda", "H100", "2.11")).empty());
  EXPECT_EQ(device_differences(before, record("cuda", "H200", "2.11")), std::vector<std::string>{"device.name"});
  EXPECT_EQ(device_differences(before, record("cpu", "Xeon", "2.12")), std::vector<std::string>{"device.software"});
  nlohmann::ordered_json several = record("cuda", "H100", "2.11, NCCL 2.28");
  several["cell"]["gpus"] = 8;
  EXPECT_TRUE(device_differences(before, several).empty());
  EXPECT_TRUE(device_differences(before, record("emulated:h100", "H100 (EMULATED)", "")).empty());
  nlohmann::ordered_json joined = record("cuda", "H200", "2.11");
  joined["status"] = "ok", joined["flags"] = nlohmann::ordered_json::array();
  flag_forced(joined, {"device.name"});
  EXPECT_EQ(joined["flags"][0]["severity"], "serious");
  EXPECT_FALSE(joined["valid"]);
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
