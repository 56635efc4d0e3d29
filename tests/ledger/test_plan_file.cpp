#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "ledger/plan_file.h"
#include "ledger/record.h"
#include "ledger/record_json.h"
#include "tests/plan/two_settings.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

nlohmann::ordered_json kept_plan(const TemporaryFolder& folder) {
  std::ifstream file(folder.path() / "plan.json");
  return nlohmann::ordered_json::parse(file);
}

TEST(PlanFile, KeepsWhatASweepSetOutToDo) {
  const TemporaryFolder folder;
  const auto plan = plan::plan_sweep(two_settings(), 2, 0);
  ledger::keep_plan(folder.path(), plan, 0);
  const auto kept = kept_plan(folder);
  EXPECT_EQ(kept["cells"].size(), 10u);  // two ceilings, eight cells
  ASSERT_EQ(kept["sweeps"].size(), 1u);
  ASSERT_EQ(kept["sweeps"][0]["runs"].size(), plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(kept["sweeps"][0]["runs"][i],
              nlohmann::ordered_json({plan[i].cell.id(), plan::name_of(plan[i].role),
                                      plan[i].repetition, plan::position_of(plan[i].role)}));
    EXPECT_EQ(kept["cells"][plan[i].cell.id()], ledger::cell_json(plan[i].cell));
  }
}

TEST(PlanFile, GrowsByWhatIsNew) {
  const TemporaryFolder folder;
  ledger::keep_plan(folder.path(), plan::plan_sweep({two_settings()[0]}, 9, 0), 0);
  ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 1, 0),
                    0);  // nothing was measured of the one before
  ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 1, 7),
                    5);  // another order of the same
  EXPECT_EQ(kept_plan(folder)["sweeps"].size(), 1u);
  ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 2, 0), 12);
  const auto kept = kept_plan(folder);
  ASSERT_EQ(kept["sweeps"].size(), 2u);
  EXPECT_EQ(kept["sweeps"][1]["records"], 12);
  EXPECT_EQ(kept["sweeps"][1]["runs"].size(), 10u);
  EXPECT_EQ(kept["cells"].size(), 10u);
}

using PlanCommand = std::vector<std::string>;

// As much of a record as says that the run needs not be measured again.
std::vector<nlohmann::ordered_json> records_of_all(const std::vector<plan::PlannedRun>& runs) {
  std::vector<nlohmann::ordered_json> records;
  for (const plan::PlannedRun& run : runs) {
    records.push_back({{"cell_id", run.cell.id()},
                       {"repetition", run.repetition},
                       {"place", plan::position_of(run.role)},
                       {"status", "ok"}});
  }
  return records;
}

TEST(PlanFile, KnowsWhichCommandLacksARun) {
  const TemporaryFolder folder;
  const PlanCommand first = {"sweep", "--workers", "1"}, second = {"sweep", "--workers", "1,2"};
  for (const auto& cells : {two_settings(), cold(two_settings())}) {
    const auto some = plan::plan_sweep({cells[1]}, 1, 0), all = plan::plan_sweep(cells, 1, 0);
    ledger::keep_plan(folder.path(), some, 0, first);
    EXPECT_EQ(ledger::planned_command(folder.path(), {}), first);
    ledger::keep_plan(folder.path(), all, 1, second);
    EXPECT_EQ(kept_plan(folder)["sweeps"].size(), 2u);
    EXPECT_EQ(ledger::planned_command(folder.path(), {}), second) << "of both, the last one";
    auto but_the_first = records_of_all(all);
    const auto is_first = [&](const auto& record) {
      return record["cell_id"] == some.back().cell.id() && record["place"] == 0;
    };
    ASSERT_GT(std::erase_if(but_the_first, is_first), 0u);
    EXPECT_EQ(ledger::planned_command(folder.path(), but_the_first), first);
    EXPECT_EQ(ledger::planned_command(folder.path(), records_of_all(all)), second)
        << "nothing is missing: the last one";
  }
}

TEST(PlanFile, WhatIsMeasuredAgainIsMissing) {
  const TemporaryFolder folder;
  const auto plan = plan::plan_sweep({two_settings()[1]}, 2, 0);
  ledger::keep_plan(folder.path(), plan, 0, {"sweep", "first"});
  ledger::keep_plan(folder.path(), plan::plan_sweep({two_settings()[1]}, 3, 0), 1,
                    {"sweep", "second"});
  auto records = records_of_all(plan::plan_sweep({two_settings()[1]}, 3, 0));
  EXPECT_EQ(ledger::planned_command(folder.path(), records).back(), "second");
  records.front()["status"] = "interrupted";
  EXPECT_EQ(ledger::planned_command(folder.path(), records).back(), "first");
}

TEST(PlanFile, SaysNoCommandWhereItHasNone) {
  const TemporaryFolder folder;
  EXPECT_EQ(ledger::planned_command(folder.path(), {}), PlanCommand{});
  ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 1, 0), 0);
  EXPECT_EQ(ledger::planned_command(folder.path(), {}), PlanCommand{});
  for (const char* command : {"7", "\"sweep\"", "[7]", "{}", "null"}) {
    auto kept = kept_plan(folder);
    kept["sweeps"][0]["command"] = nlohmann::ordered_json::parse(command);
    std::ofstream(folder.path() / "plan.json") << kept;
    EXPECT_EQ(ledger::planned_command(folder.path(), {}), PlanCommand{}) << command;
  }
}

// A folder's name may be any bytes; a file of JSON is UTF-8.
TEST(PlanFile, KeepsACommandThatIsNoUtf8) {
  const TemporaryFolder folder;
  ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 1, 0), 0,
                    {"sweep", "--dataset", "\xff"});
  EXPECT_EQ(ledger::planned_command(folder.path(), {}),
            (PlanCommand{"sweep", "--dataset", "\xef\xbf\xbd"}));
}

TEST(PlanFile, ReplacesAFileThatIsNoPlan) {
  for (const char* text :
       {"", "no JSON", "[]", "7", R"({"schema":7})", R"({"schema":"feedrate.plan/9"})",
        R"({"schema":"feedrate.plan/1","cells":{},"sweeps":[7]})",
        R"({"schema":"feedrate.plan/1","cells":{},"sweeps":{}})",
        R"({"schema":"feedrate.plan/1","sweeps":[{"records":0,"runs":[["x","cell",0,0]]}]})",
        R"({"cells":{},"sweeps":[{"runs":[["x","cell",0,0]]}],"schema":"feedrate.plan/1"})",
        R"({"schema":"feedrate.plan/1","cells":{},"sweeps":[{"runs":[]}]})"}) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "plan.json") << text;
    ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 1, 0), 3);
    EXPECT_EQ(kept_plan(folder)["sweeps"].size(), 1u) << text;
  }
}

TEST(PlanFile, NamesThePathThatCannotBeWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "plan.json" / "in the way");
  try {
    ledger::keep_plan(folder.path(), plan::plan_sweep(two_settings(), 1, 0), 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find((folder.path() / "plan.json").string() + ": "),
              std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "plan.json.partial"));
}

}  // namespace
}  // namespace feedrate::tests
