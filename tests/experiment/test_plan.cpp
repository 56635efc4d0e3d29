#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "experiment/plan_file.h"
#include "experiment/resume.h"
#include "experiment/sweep.h"
#include "measure/error.h"
#include "tests/support.h"

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

nlohmann::ordered_json kept_plan(const TemporaryFolder& folder) {
  std::ifstream file(folder.path() / "plan.json");
  return nlohmann::ordered_json::parse(file);
}

TEST(PlanFile, KeepsWhatASweepSetOutToDo) {
  const TemporaryFolder folder;
  const auto plan = plan_sweep(cells(), 2, 0);
  keep_plan(folder.path(), plan, 0);
  const auto kept = kept_plan(folder);
  EXPECT_EQ(kept["cells"].size(), 10u);  // two ceilings, eight cells
  ASSERT_EQ(kept["sweeps"].size(), 1u);
  ASSERT_EQ(kept["sweeps"][0]["runs"].size(), plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(kept["sweeps"][0]["runs"][i], nlohmann::ordered_json({plan[i].cell.id(), plan[i].role, plan[i].repetition, plan[i].place}));
    EXPECT_EQ(kept["cells"][plan[i].cell.id()], plan[i].cell.to_json());
  }
}

TEST(PlanFile, GrowsByWhatIsNew) {
  const TemporaryFolder folder;
  keep_plan(folder.path(), plan_sweep({cells()[0]}, 9, 0), 0);
  keep_plan(folder.path(), plan_sweep(cells(), 1, 0), 0);  // nothing was measured of the one before
  keep_plan(folder.path(), plan_sweep(cells(), 1, 7), 5);  // another order of the same
  EXPECT_EQ(kept_plan(folder)["sweeps"].size(), 1u);
  keep_plan(folder.path(), plan_sweep(cells(), 2, 0), 12);
  const auto kept = kept_plan(folder);
  ASSERT_EQ(kept["sweeps"].size(), 2u);
  EXPECT_EQ(kept["sweeps"][1]["records"], 12);
  EXPECT_EQ(kept["sweeps"][1]["runs"].size(), 12u);
  EXPECT_EQ(kept["cells"].size(), 10u);
}

TEST(PlanFile, ReplacesWhatIsNone) {
  for (const char* text : {"", "no JSON", "[]", "7", R"({"schema":7})", R"({"schema":"feedrate.plan/9"})",
                           R"({"schema":"feedrate.plan/1","cells":{},"sweeps":[7]})", R"({"schema":"feedrate.plan/1","cells":{},"sweeps":{}})",
                           R"({"schema":"feedrate.plan/1","cells":{},"sweeps":[{"records":0,"runs":[["x","cell",0,0]]}]})",
                           R"({"schema":"feedrate.plan/1","cells":{},"sweeps":[{"runs":[]}]})"}) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "plan.json") << text;
    keep_plan(folder.path(), plan_sweep(cells(), 1, 0), 3);
    EXPECT_EQ(kept_plan(folder)["sweeps"].size(), 1u) << text;
  }
}

TEST(PlanFile, NamesThePathThatCannotBeWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "plan.json" / "in the way");
  try {
    keep_plan(folder.path(), plan_sweep(cells(), 1, 0), 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find((folder.path() / "plan.json").string() + ": "), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "plan.json.partial"));
}

}  // namespace
}  // namespace feedrate
