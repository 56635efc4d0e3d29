#include <gtest/gtest.h>

#include <fstream>

#include "ledger/ledger.h"
#include "ledger/plan_file.h"
#include "ledger/record.h"
#include "ledger/record_json.h"
#include "ledger/seal.h"
#include "tests/ledger/least_record.h"
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
    ledger::Ledger ledger(folder.path(), false);
    for (int n = 0; n < 2; ++n) ledger.append(least_record(n));
  }
  ledger::Ledger again(folder.path(), true);  // a resumed sweep goes on with the chain
  EXPECT_EQ(again.append(least_record(2))["n"], 2);
  const auto lines = lines_of(folder.path());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(again.last_xxh3(), ledger::line_xxh3(lines[2]));
  EXPECT_EQ(ledger::seal_problem(lines[0], ""), "");
  EXPECT_EQ(ledger::seal_problem(lines[1], ledger::line_xxh3(lines[0])), "");
  EXPECT_EQ(ledger::seal_problem(lines[2], ledger::line_xxh3(lines[1])), "");
  EXPECT_NE(ledger::seal_problem(lines[2], ledger::line_xxh3(lines[0])), "");
  EXPECT_NE(ledger::seal_problem(lines[0], ledger::line_xxh3(lines[2])), "");
}

TEST(Seal, EveryChangedByteShows) {
  auto json = least_record(7);
  ledger::seal(json, "0123456789abcdef");
  const std::string line = ledger::to_line(json);
  ASSERT_EQ(ledger::seal_problem(line, "0123456789abcdef"), "");
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] ^= 1;
    EXPECT_NE(ledger::seal_problem(changed, "0123456789abcdef"), "") << i;
  }
  EXPECT_NE(ledger::seal_problem(line.substr(0, line.size() - 1), "0123456789abcdef"), "");
  EXPECT_NE(ledger::seal_problem("{}", ""), "");
}

TEST(Seal, SealingAgainReplacesTheSeal) {
  auto once = least_record(1);
  ledger::seal(once, "");
  auto twice = once;
  twice["n"] = 2;
  ledger::seal(twice, "");
  EXPECT_EQ(ledger::seal_problem(ledger::to_line(twice), ""), "");
  EXPECT_NE(twice["record_xxh3"], once["record_xxh3"]);
}

TEST(Seal, WhatASweepEndedWithIsKeptUntilTheNextBegins) {
  const TemporaryFolder folder;
  EXPECT_FALSE(ledger::read_end(folder.path()));
  ledger::keep_plan(folder.path(), {}, 0);
  ledger::keep_end(folder.path(), {3, "00ff"});
  const auto end = ledger::read_end(folder.path());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->records, 3u);
  EXPECT_EQ(end->last_xxh3, "00ff");
  ledger::keep_plan(folder.path(), {}, 3);
  EXPECT_FALSE(ledger::read_end(folder.path()));
}

}  // namespace
}  // namespace feedrate::tests
