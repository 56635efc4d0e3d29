#include <gtest/gtest.h>

#include <fstream>

#include "record/ledger.h"
#include "record/plan_file.h"
#include "record/record.h"
#include "record/record_json.h"
#include "record/seal.h"
#include "tests/record/least_record.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "ledger.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Seal, ALineFitsTheOneBeforeItAndNoOther) {
  const TemporaryFolder folder;
  {
    record::Ledger ledger(folder.path(), false);
    for (int n = 0; n < 2; ++n) ledger.append(least_record(n));
  }
  record::Ledger again(folder.path(), true);  // a resumed sweep goes on with the chain
  EXPECT_EQ(again.append(least_record(2))["n"], 2);
  const auto lines = lines_of(folder.path());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(again.last_xxh3(), record::line_xxh3(lines[2]));
  EXPECT_EQ(record::seal_problem(lines[0], ""), "");
  EXPECT_EQ(record::seal_problem(lines[1], record::line_xxh3(lines[0])), "");
  EXPECT_EQ(record::seal_problem(lines[2], record::line_xxh3(lines[1])), "");
  EXPECT_NE(record::seal_problem(lines[2], record::line_xxh3(lines[0])), "");
  EXPECT_NE(record::seal_problem(lines[0], record::line_xxh3(lines[2])), "");
}

TEST(Seal, EveryChangedByteShows) {
  auto json = least_record(7);
  record::seal(json, "0123456789abcdef");
  const std::string line = record::to_line(json);
  ASSERT_EQ(record::seal_problem(line, "0123456789abcdef"), "");
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] ^= 1;
    EXPECT_NE(record::seal_problem(changed, "0123456789abcdef"), "") << i;
  }
  EXPECT_NE(record::seal_problem(line.substr(0, line.size() - 1), "0123456789abcdef"), "");
  EXPECT_NE(record::seal_problem("{}", ""), "");
}

TEST(Seal, SealingAgainReplacesTheSeal) {
  auto once = least_record(1);
  record::seal(once, "");
  auto twice = once;
  twice["n"] = 2;
  record::seal(twice, "");
  EXPECT_EQ(record::seal_problem(record::to_line(twice), ""), "");
  EXPECT_NE(twice["record_xxh3"], once["record_xxh3"]);
}

TEST(Seal, WhatASweepEndedWithIsKeptUntilTheNextBegins) {
  const TemporaryFolder folder;
  EXPECT_FALSE(record::read_end(folder.path()));
  record::keep_plan(folder.path(), {}, 0);
  record::keep_end(folder.path(), {3, "00ff"});
  const auto end = record::read_end(folder.path());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->records, 3u);
  EXPECT_EQ(end->last_xxh3, "00ff");
  record::keep_plan(folder.path(), {}, 3);
  EXPECT_FALSE(record::read_end(folder.path()));
}

}  // namespace
}  // namespace feedrate::tests
