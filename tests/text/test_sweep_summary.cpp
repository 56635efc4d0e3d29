#include "text/sweep_summary.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

using Json = nlohmann::ordered_json;

// Three cells that are measured in pairs with their ceiling.
const std::vector<plan::Cell>& paired_cells() {
  static const std::vector<plan::Cell> all = plan::expand(
      {{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"workers", {"1", "2", "4"}}});
  return all;
}

Json rate_record(const plan::Cell& cell, int repetition, double imgs_per_s) {
  return {{"cell_id", cell.id()},  {"repetition", repetition}, {"place", 0},
          {"status", "ok"},        {"imgs_per_s", imgs_per_s}, {"valid", true},
          {"flags", Json::array()}};
}

Json share_record(int cell, int repetition, double share) {
  Json record = rate_record(paired_cells()[static_cast<std::size_t>(cell)], repetition, 100);
  record["pairs"] = Json::object();
  record["ceiling_fraction"] = share;
  return record;
}

Json raising(Json record, const std::string& name, const std::string& severity) {
  record["flags"].push_back({{"name", name}, {"severity", severity}});
  record["valid"] = severity != "serious";
  return record;
}

const std::string kUnknown = ", no interval below 3 repetitions: ";

std::string end_of(const std::vector<Json>& records,
                   const std::vector<plan::Cell>& cells = paired_cells()) {
  text::SweepSummary end;
  for (const Json& record : records) end.add(record);
  return end.text(cells, /*names_devices=*/false);
}

TEST(SweepSummary, NamesTheBestAndTheWorstCell) {
  EXPECT_EQ(end_of({share_record(0, 0, 0.25), share_record(1, 0, 0.5), share_record(2, 0, 0.9),
                    share_record(0, 1, 0.36), share_record(1, 1, 0.5), share_record(2, 1, 0.9)}),
            "best:  90.0 % of its ceiling" + kUnknown + paired_cells()[2].label() +
                "\nworst: 30.0 % of its ceiling" + kUnknown + paired_cells()[0].label() + "\n")
      << "geometric means over repetitions, as the report's";
}

TEST(SweepSummary, SaysHowWellTheBestIsKnown) {
  std::vector<Json> records;
  for (const int repetition : {0, 1, 2}) {
    records.push_back(share_record(0, repetition, 0.5));
    records.push_back(share_record(1, repetition, 0.79 + 0.01 * repetition));
  }
  const std::string text = end_of(records);
  EXPECT_TRUE(text.starts_with("best:  80.0 % of its ceiling ± 2.7: ")) << text;
  EXPECT_NE(text.find("worst: 50.0 % of its ceiling ± 0.0: "), std::string::npos) << text;
}

TEST(SweepSummary, WhatMustNotBeQuotedIsNeither) {
  const auto best = raising(share_record(2, 0, 0.9), "short_window", "serious");
  EXPECT_EQ(end_of({share_record(0, 0, 0.25), share_record(1, 0, 0.5), best}),
            "best:  50.0 % of its ceiling" + kUnknown + paired_cells()[1].label() +
                " (of 2 of 3 cells: the others have no share to quote)" +
                "\nworst: 25.0 % of its ceiling" + kUnknown + paired_cells()[0].label() +
                "\nflags: in 1 of 3 cells: short_window in 1\n");
  EXPECT_EQ(end_of({share_record(0, 0, 0.25), best}), "flags: in 1 of 3 cells: short_window in 1\n")
      << "one cell alone is neither";
}

TEST(SweepSummary, WhatWasMeasuredAgainCounts) {
  const auto bad = raising(share_record(0, 0, 0.1), "stopped", "serious");
  EXPECT_EQ(end_of({bad, share_record(0, 0, 0.4), share_record(1, 0, 0.5), bad}),
            "best:  50.0 % of its ceiling" + kUnknown + paired_cells()[1].label() +
                " (of 2 of 3 cells: the others have no share to quote)" +
                "\nworst: 40.0 % of its ceiling" + kUnknown + paired_cells()[0].label() + "\n");
}

TEST(SweepSummary, ARunThatWasMadeAgainIsOne) {
  const auto stopped = [](int cell) {
    return raising(share_record(cell, 0, 0.5), "stopped", "serious");
  };
  text::SweepSummary end;
  for (const Json& record : {stopped(0), stopped(1), share_record(1, 0, 0.5)}) end.add(record);
  end.add(stopped(0), {{"stopped", judge::Severity::serious, "for 12 s", "wait"}});
  EXPECT_EQ(end.caveats(), "DO NOT QUOTE: stopped in 1 of 2 runs (for 12 s)\n");
  end.add(share_record(0, 0, 0.5));
  EXPECT_EQ(end.caveats(), "");
}

TEST(SweepSummary, CountsTheCellsOfEachFlag) {
  const auto stolen = [](int cell, int repetition) {
    return raising(share_record(cell, repetition, 0.5), "cpu_steal", "warning");
  };
  const auto noted = raising(share_record(2, 0, 0.5), "cold_data", "note");
  const std::string text =
      end_of({stolen(0, 0), stolen(0, 1), raising(stolen(1, 0), "unsteady", "warning"), noted});
  EXPECT_TRUE(text.ends_with("flags: in 2 of 3 cells: cpu_steal in 2, unsteady in 1\n")) << text;
}

TEST(SweepSummary, CountsTheCellsThatMetStrayBytes) {
  const auto met = [](int cell, int repetition, const Json& pictures) {
    Json record = raising(share_record(cell, repetition, 0.5), "stray_bytes", "note");
    record["pictures_with_stray_bytes"] = pictures;
    return record;
  };
  EXPECT_EQ(end_of({met(0, 0, 0), met(1, 0, nullptr)}).find("note:"), std::string::npos);
  const std::string text = end_of({met(0, 0, 5), met(0, 1, 3), met(1, 0, 4), met(2, 0, nullptr)});
  EXPECT_TRUE(
      text.ends_with("\nnote:  2 of 3 cells met pictures with stray bytes, 5 at most; "
                     "`feedrate verify DIR` names them\n"))
      << text;
}

TEST(SweepSummary, ACellIsAsFitAsTheCeilingsAroundIt) {
  const auto cells = plan::expand({{"device", {"emulated:1000"}},
                                   {"data", {"jpeg"}},
                                   {"workers", {"1", "2"}},
                                   {"page-cache", {"cold"}}});
  const plan::Cell ceiling = plan::ceiling_of(cells[0]);
  auto closing = rate_record(ceiling, 0, 1000);
  closing["place"] = 1;
  const std::vector<Json> records = {rate_record(ceiling, 0, 1000), rate_record(cells[0], 0, 500),
                                     rate_record(cells[1], 0, 800), closing};
  EXPECT_TRUE(end_of(records, cells).starts_with("best:  80.0 % of its ceiling, ")) << "1,000";
  auto unfit = records;
  unfit.back() = raising(closing, "ceiling_drifted", "serious");
  EXPECT_EQ(end_of(unfit, cells), "");
}

TEST(SweepSummary, OfCeilingsAndOfNothingSaysNothing) {
  EXPECT_EQ(end_of({}), "");
  const auto cells = plan::expand({{"device", {"emulated:1000"}}, {"gpus", {"1", "2"}}});
  EXPECT_EQ(end_of({rate_record(cells[0], 0, 10), rate_record(cells[1], 0, 20)}, cells), "");
  Json failed = share_record(0, 0, 0.5);
  failed["status"] = "failed", failed["imgs_per_s"] = nullptr;
  EXPECT_EQ(end_of({failed, share_record(1, 0, 0.5)}), "");
}

}  // namespace
}  // namespace feedrate::tests
