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
