#include "text/sweep_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/ledger/made_up_results.h"
#include "tests/run/made_up_rank.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ledger::Record table_record(double ceiling_imgs_per_s) {
  const plan::AxisValues axes = {
      {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
  run::CellResult result = result_of(axes, {.ranks = {rank_of(0, 41)}});
  const plan::Cell cell = result.cell;
  return ledger::make_record(
      std::move(result),
      {plan::PlannedRun{cell, plan::Role::cell}, 0, judge::Ceiling{ceiling_imgs_per_s, {}}, {}, {}},
      {});
}

TEST(SweepTable, IsAsWideAsTheTerminalAndNotWider) {
  const ledger::Record record = table_record(2 * table_record(1).result.measurement->imgs_per_s);
  for (const std::size_t columns : {200u, 80u, 60u, 59u, 40u, 31u}) {
    const text::SweepTable table(columns, 120, /*of_each=*/false, /*colours=*/false);
    EXPECT_EQ(character_count(table.header()), columns);
    EXPECT_EQ(character_count(table.row(record, 7)), columns) << table.row(record, 7);
    EXPECT_THAT(table.row(record, 7), HasSubstr("50.0 %")) << "numbers stay";
  }
  const text::SweepTable tiny(26, 120, false, false);
  EXPECT_LE(character_count(tiny.row(record, 7)), 26u) << "without a label";
  EXPECT_THAT(tiny.row(record, 7), HasSubstr("50.0 %"));
  EXPECT_THAT(text::SweepTable(80, 120, false, false).header(),
              AllOf(HasSubstr("img/s"), HasSubstr("ceiling"), EndsWith("waits")));
  EXPECT_THAT(text::SweepTable(40, 120, false, false).header(), EndsWith("ceiling"));
  EXPECT_THAT(text::SweepTable(40, 120, false, false).row(record, 7), HasSubstr("…"))
      << "the label gives way";
}

TEST(SweepTable, WhatMustNotBeQuotedIsMarkedWithoutColours) {
  ledger::Record record = table_record(1000);
  record.valid = true;
  EXPECT_THAT(text::SweepTable(80, 9, false, false).row(record, 1), Not(HasSubstr("!")));
  record.valid = false;
  EXPECT_THAT(text::SweepTable(80, 9, false, false).row(record, 1), HasSubstr("! "));
}

TEST(SweepTable, SaysWhichRepetitionWhereNobodyKnowsHowMany) {
  ledger::Record record = table_record(1000);
  record.context.run.repetition = 11;
  const text::SweepTable table(80, 12, /*of_each=*/true, /*colours=*/false);
  EXPECT_THAT(table.row(record, 4), StartsWith("  12.4 jpeg"));
  EXPECT_EQ(character_count(table.row(record, 12)), 80u);
}

TEST(SweepTable, AFailedRunSaysAllOfItsError) {
  ledger::Record record = table_record(1000);
  record.result.measurement.reset();
  record.result.status = run::Status::failed;
  record.result.error = std::string(100, 'x') + " end";
  EXPECT_THAT(text::SweepTable(40, 9, false, false).row(record, 3),
              AllOf(StartsWith("  3 jpeg"), EndsWith("xxx end")));
}

// Before the rest of the label, which gives way on a narrow terminal.
TEST(SweepTable, NamesTheDeviceWhereCellsDifferInIt) {
  const ledger::Record record = table_record(1000);
  const text::SweepTable table(60, 9, false, false, /*names_devices=*/true);
  EXPECT_THAT(table.row(record, 3), StartsWith("  3 1,000 img/s, jpeg"));
  EXPECT_THAT(text::SweepTable(60, 9, false, false).row(record, 3), StartsWith("  3 jpeg"));
}

TEST(SweepTable, ColoursByMeaning) {
  ledger::Record record = table_record(1000);
  record.flags.clear(), record.valid = true;
  const text::SweepTable table(80, 9, /*of_each=*/false, /*colours=*/true);
  EXPECT_THAT(table.row(record, 1), Not(HasSubstr("\033")));
  record.flags.push_back({.name = "cpu_steal", .severity = judge::Severity::warning});
  EXPECT_THAT(table.row(record, 1), StartsWith("\033[33m"));
  record.valid = false;
  EXPECT_THAT(table.row(record, 1), AllOf(StartsWith("\033[31m"), EndsWith("\033[0m")));
  EXPECT_THAT(text::SweepTable(80, 9, false, false).row(record, 1), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace feedrate::tests
