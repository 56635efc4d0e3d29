#include <gtest/gtest.h>

#include "ledger/resume.h"
#include "tests/ledger/made_up_results.h"
#include "tests/plan/two_settings.h"

namespace feedrate::tests {
namespace {

nlohmann::ordered_json finished_record(const plan::PlannedRun& run, const char* status,
                                       bool valid) {
  return {{"cell_id", run.cell.id()},
          {"repetition", run.repetition},
          {"place", plan::position_of(run.role)},
          {"status", status},
          {"valid", valid}};
}

// A share is of the ceilings around its cell: what is measured another day brings ceilings of its
// own.
TEST(Resume, WhatIsMeasuredAgainBringsItsCeilings) {
  const auto plan = plan::plan_sweep(cold(two_settings()), 2, 0);
  const auto places_without = [&](std::size_t invalid) {  // of what is missing
    std::vector<nlohmann::ordered_json> records;
    for (std::size_t i = 0; i < plan.size(); ++i)
      records.push_back(finished_record(plan[i], "ok", i != invalid));
    std::vector<std::pair<int, plan::Role>> missing;
    for (const auto& run : ledger::missing_of(plan, records))
      missing.emplace_back(run.repetition, run.role);
    return missing;
  };
  using enum plan::Role;
  using Runs = std::vector<std::pair<int, plan::Role>>;
  EXPECT_EQ(places_without(plan.size()), Runs{});
  EXPECT_EQ(places_without(2), (Runs{{0, opening_ceiling}, {0, cell}, {0, closing_ceiling}}));
  EXPECT_EQ(places_without(5), (Runs{{0, closing_ceiling}}));
  EXPECT_EQ(
      places_without(0),
      (Runs{
          {0, opening_ceiling}, {0, cell}, {0, cell}, {0, cell}, {0, cell}, {0, closing_ceiling}}));
}

TEST(Resume, WhatIsInPairsBringsItsCeilingWithIt) {
  const auto plan = plan::plan_sweep(two_settings(), 2, 0);
  for (std::size_t lost = 0; lost < plan.size(); ++lost) {
    std::vector<nlohmann::ordered_json> records;
    for (std::size_t i = 0; i < plan.size(); ++i)
      if (i != lost) records.push_back(finished_record(plan[i], "ok", true));
    const auto missing = ledger::missing_of(plan, records);
    ASSERT_EQ(missing.size(), 1u) << lost;
    EXPECT_EQ(missing[0].cell, plan[lost].cell);
  }
}

TEST(Resume, WhatAnotherRunWouldFindAgainIsNotMissing) {
  const auto plan = plan::plan_sweep(two_settings(), 1, 0);
  const auto missing_with = [&](const char* flag) {
    std::vector<nlohmann::ordered_json> records;
    for (const auto& run : plan) {
      records.push_back(finished_record(run, "ok", false));
      records.back()["flags"] = {{{"name", "emulated"}, {"severity", "note"}},
                                 {{"name", flag}, {"severity", "serious"}}};
    }
    return ledger::missing_of(plan, records).size();
  };
  EXPECT_EQ(missing_with("harness_bound"), 0u);
  EXPECT_EQ(missing_with("throttled"), plan.size());
}

TEST(Resume, WhatTheLedgerHoldsIsNotMissing) {
  const auto plan = plan::plan_sweep(two_settings(), 2, 0);
  std::vector<nlohmann::ordered_json> records;
  for (const std::size_t i : {0u, 2u, 3u, 4u})
    records.push_back(finished_record(plan[i], i == 3 ? "failed" : "ok", i != 3 && i != 4));
  const auto missing = ledger::missing_of(plan, records);
  ASSERT_EQ(missing.size(), plan.size() - 2);
  EXPECT_EQ(missing[0].cell, plan[1].cell);
  EXPECT_EQ(missing[1].cell, plan[3].cell) << "what failed is missing";
  EXPECT_EQ(missing[2].cell, plan[4].cell) << "and what must not be quoted";
}

// A run of 30 steps of 10 ms on a device of that name.
run::CellResult measured_on(const char* device, const char* gpus, const char* name,
                            const char* software) {
  run::RankResult rank;
  for (std::int64_t i = 0; i <= 30; ++i)
    rank.steps.push_back({10'000'000 * i, 10'000'000 * (i + 1)});
  rank.data_wait_ms.resize(31);
  rank.first = 1, rank.last = 31;
  rank.device = {.name = name, .kind = device, .software = software};
  std::vector<run::RankResult> ranks(static_cast<std::size_t>(std::stoi(gpus)), rank);
  return result_of({{"device", {device}}, {"gpus", {gpus}}}, {.ranks = std::move(ranks)});
}

TEST(Resume, AnotherDeviceBehindTheSameNameIsSeen) {
  const std::vector<nlohmann::ordered_json> before = {
      json_of(measured_on("cuda", "1", "H100", "2.11")),
      json_of(measured_on("cpu", "1", "Xeon", "2.11")),
      {{"cell", {{"device", "cuda"}, {"gpus", 1}}}}};
  const auto found = [&](const char* device, const char* gpus, const char* name,
                         const char* software) {
    return ledger::device_differences(before, measured_on(device, gpus, name, software));
  };
  EXPECT_TRUE(found("cuda", "1", "H100", "2.11").empty());
  EXPECT_EQ(found("cuda", "1", "H200", "2.11"), std::vector<std::string>{"device.name"});
  EXPECT_EQ(found("cpu", "1", "Xeon", "2.12"), std::vector<std::string>{"device.software"});
  EXPECT_TRUE(found("cuda", "8", "H100", "2.11, NCCL 2.28").empty());
  EXPECT_TRUE(found("emulated:h100", "1", "H100 (EMULATED)", "").empty());
  EXPECT_TRUE(ledger::device_differences(before, run::CellResult{}).empty())
      << "nothing was measured";
}

TEST(Resume, WhatIsMixedIsFlagged) {
  run::CellResult result = measured_on("cuda", "1", "H200", "2.11");
  run::RunOptions options;
  options.limits.min_seconds = 0.1;
  const auto flagged = [&](const std::string& difference) {
    const ledger::Record record = ledger::make_record(
        result, {plan::PlannedRun{result.cell}, 0, {}, {}, {difference}}, options);
    const auto json = ledger::record_json(record, {}, {});
    EXPECT_EQ(json["forced"], nlohmann::ordered_json({difference}));
    EXPECT_EQ(json["flags"].back()["name"], "mixed_ledger");
    EXPECT_EQ(json["valid"], json["flags"].back()["severity"] != "serious");
    return json["flags"].back()["severity"].get<std::string>();
  };
  EXPECT_EQ(flagged("device.name"), "serious");
  EXPECT_EQ(flagged("binary_xxh3"), "warning");
}

}  // namespace
}  // namespace feedrate::tests
