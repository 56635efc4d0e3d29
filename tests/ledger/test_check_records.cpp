#include "ledger/check_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "judge/verdict.h"
#include "ledger/ledger.h"
#include "ledger/plan_file.h"
#include "ledger/record.h"
#include "ledger/record_json.h"
#include "ledger/recorded_measurement.h"
#include "machine/environment.h"
#include "plan/expand.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

// Whose steps are a tenth longer than at the ceiling.
void put_in_pairs(Json& record) {
  record["ceiling_imgs_per_s"] = 1000.0;
  record["ceiling_device_rate"] = {{"imgs_per_s", 1000.0}, {"ci95", nullptr}};
  record["pairs"] = {{"took_s", 2.0},
                     {"cell_steps", {25, 25, 25}},
                     {"ceiling_steps", {25, 25, 25}},
                     {"cell_s", {0.33, 0.33, 0.34}},
                     {"ceiling_s", {0.2, 0.2, 0.2}},
                     {"cell_busy_s", {0.22, 0.221, 0.22}},
                     {"ceiling_busy_s", {0.2, 0.2, 0.2}}};
}

Json sound_record(bool in_pairs = false) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:1000"}},
                                        {"data", {"jpeg"}},
                                        {"batch-size", {"8"}},
                                        {"workers", {"2"}}})
                              .at(0);
  Json record = {
      {"schema", ledger::kResultSchema},
      {"cell", ledger::cell_json(cell)},
      {"cell_id", cell.id()},
      {"role", "cell"},
      {"repetition", 0},
      {"status", "ok"},
      {"imgs_per_s", 600.0},
      {"window_s", 1.0},
      {"device_rate", {{"imgs_per_s", 1000.0}, {"ci95", nullptr}}},
      {"cpu_wait_s", 0.0},
      {"step_ms", {{"mean", 13.333}}},
      {"device_idle_fraction", 0.4},
      {"threads", {{"cpus", 2}, {"cpu_capacity", 2.0}}},
      {"stages",
       {{{"name", "read"}, {"wall_s", 0.1}, {"cpu_s", 0.05}, {"items", 600}, {"bytes", 1000}},
        {{"name", "decode"}, {"wall_s", 1.8}, {"cpu_s", 1.8}, {"items", 600}, {"bytes", 0}}}},
      {"arrivals", nullptr},
      {"device", {{"name", "x"}, {"kind", "emulated"}, {"step_ms", 8.0}}},
      {"environment", {{"feedrate_version", machine::version()}}},
      {"limits", {{"min_steps", 10}, {"min_seconds", 0.5}}},
      {"monitors", {{"cpu_busy", 0.5}}},
      {"flags", {{{"name", "emulated"}, {"severity", "note"}}}},
      {"steps", 75},
      {"seed", 0},
      {"dataset", {{"variant", "jpeg/224x224"}}}};
  if (in_pairs) put_in_pairs(record);
  const judge::Verdict verdict = judge::verdict_of(
      plan::settings_of(cell), ledger::measurement_from(record), ledger::ceiling_from(record));
  record["capacities"] = ledger::capacities_json(verdict.capacities);
  record["verdict"] = verdict.sentence;
  return record;
}

std::vector<std::string> found_in(const std::vector<Json>& records) {
  const TemporaryFolder folder;
  {
    ledger::Ledger ledger(folder.path(), false);
    for (const Json& record : records) ledger.append(record);
  }
  std::vector<std::string> words;
  for (const auto& finding : ledger::check_records(folder.path() / "ledger.jsonl").findings)
    words.push_back(std::to_string(finding.line) + ": " + finding.words);
  return words;
}

TEST(CheckRecords, ASoundRecordHasNoFinding) {
  EXPECT_THAT(found_in({sound_record(), sound_record()}), testing::IsEmpty());
}

TEST(CheckRecords, AVerdictFollowsFromItsPairs) {
  const Json record = sound_record(/*in_pairs=*/true);
  const auto slowdown =
      judge::slowdown_of(ledger::measurement_from(record), *ledger::ceiling_from(record));
  ASSERT_TRUE(slowdown) << "few steps, but three pairs";
  EXPECT_NEAR(slowdown->factor, 1.1, 0.002);
  EXPECT_TRUE(slowdown->is_shown());
  EXPECT_THAT(found_in({record}), testing::IsEmpty());
}

TEST(CheckRecords, AnAxisThatEveryCellHasMayNotBeMissing) {
  Json record = sound_record();
  record["cell"]["input-size"] = nullptr;
  record["cell_id"] = ledger::cell_from(record["cell"]).id();
  EXPECT_THAT(found_in({record}), testing::Contains(HasSubstr("cell lacks the axis input-size")));
}

TEST(CheckRecords, WhatIsDerivedIsFoundWhereItIsAnother) {
  const std::vector<std::pair<Json::json_pointer, Json>> changes = {
      {Json::json_pointer("/cell_id"), "0123456789abcdef"},
      {Json::json_pointer("/cell/workers"), 3},
      {Json::json_pointer("/device/step_ms"), 8.8},
      {Json::json_pointer("/verdict"), "not input-bound"},
      {Json::json_pointer("/capacities/0/imgs_per_s"), 1.0},
      {Json::json_pointer("/stages/1/wall_s"), 0.18},
      {Json::json_pointer("/imgs_per_s"), 660.0},
      {Json::json_pointer("/device_idle_fraction"), 0.04}};
  for (const auto& [where, value] : changes) {
    Json record = sound_record();
    record[where] = value;
    EXPECT_THAT(found_in({record}), testing::Not(testing::IsEmpty())) << where.to_string();
  }
}

// A ledger may come from anywhere: whatever stands in a field, or is missing, is a finding and
// nothing worse.
TEST(CheckRecords, FieldsOfAnyKindAreFindings) {
  const std::vector<Json> kinds = {
      nullptr, true, -1, 1e300, "x", Json::array(), Json::object(), Json::array({1, "x", nullptr})};
  const Json sound = sound_record();
  for (const auto& [key, _] : sound.items()) {
    if (key == "schema" || key == "environment" || key == "seed" || key == "dataset" ||
        key == "repetition" || key == "role" || key == "cell")
      continue;  // no record: the Python says so
    for (const Json& kind : kinds) {
      const TemporaryFolder folder;
      Json record = sound;
      record[key] = kind;
      std::ofstream(folder.path() / "ledger.jsonl") << ledger::to_line(record) << "\n{\"torn";
      EXPECT_FALSE(ledger::check_records(folder.path() / "ledger.jsonl").findings.empty())
          << key << " " << kind;
      record.erase(key);
      std::ofstream(folder.path() / "ledger.jsonl") << ledger::to_line(record) << "\n";
      ledger::check_records(folder.path() / "ledger.jsonl");
    }
  }
  for (const char* key : {"name", "wall_s", "items"}) {
    for (const Json& kind : kinds) {
      Json record = sound;
      record["stages"][0][key] = kind;
      EXPECT_FALSE(found_in({record}).empty()) << key << " " << kind;
    }
  }
}

TEST(CheckRecords, DepthThatWouldEndTheProgramIsNoRecord) {
  for (const std::string& open : {std::string("["), std::string("{\"a\":")}) {
    const TemporaryFolder folder;
    std::string deep;
    for (int i = 0; i < 200000; ++i) deep += open;
    std::ofstream(folder.path() / "ledger.jsonl")
        << "{\"schema\":\"" << ledger::kResultSchema << "\",\"cell_id\":\"0\",\"cell\":" << deep
        << "\n";
    EXPECT_TRUE(ledger::check_records(folder.path() / "ledger.jsonl")
                    .findings.empty());  // the Python says that the line is no record
    EXPECT_THROW(ledger::read_ledger(folder.path() / "ledger.jsonl"), Error);
  }
  const std::string brackets_in_words(64, '[');
  EXPECT_FALSE(ledger::nests_too_deep(R"({"a":")" + brackets_in_words + R"(\"[[","b":[[1]]})"));
}

TEST(CheckRecords, WordsOfALedgerDoNotReachTheTerminalAsTheyAre) {
  Json record = sound_record();
  record["verdict"] = "\x1b]0;x\x07\nline 9: forged" + std::string(100000, 'x');
  for (const std::string& words : found_in({record})) {
    EXPECT_LT(words.size(), 400u);
    EXPECT_EQ(words.find_first_of("\x1b\x07\n"), std::string::npos);
  }
}

TEST(CheckRecords, RecordsTakenOffTheEndAreMissed) {
  const TemporaryFolder folder;
  ledger::Ledger ledger(folder.path(), false);
  ledger.append(sound_record());
  ledger::keep_end(folder.path(), {2, "00"});
  EXPECT_THAT(ledger::check_records(folder.path() / "ledger.jsonl").findings.at(0).words,
              HasSubstr("ended with 2 records: 1 are gone"));
  ledger::keep_end(folder.path(), {1, "00"});
  EXPECT_THAT(ledger::check_records(folder.path() / "ledger.jsonl").findings.at(0).words,
              HasSubstr("not the record that the last sweep ended with"));
  ledger::keep_end(folder.path(), {1, ledger.last_xxh3()});
  EXPECT_TRUE(ledger::check_records(folder.path() / "ledger.jsonl").findings.empty());
}

TEST(CheckRecords, OlderSchemasAreCountedAndNotAskedForChecksums) {
  const TemporaryFolder folder;
  Json record = sound_record();
  record["schema"] = "feedrate.result/2";
  std::ofstream(folder.path() / "ledger.jsonl") << ledger::to_line(record) << "\n";
  const ledger::CheckedRecords checked = ledger::check_records(folder.path() / "ledger.jsonl");
  EXPECT_TRUE(checked.findings.empty());
  EXPECT_EQ(checked.unsealed, 1u);
}

}  // namespace
}  // namespace feedrate::tests
