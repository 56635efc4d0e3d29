#include "text/quotable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/expand.h"
#include "tests/ledger/made_up_results.h"
#include "tests/run/made_up_rank.h"
#include "text/capacity_text.h"
#include "text/diagnosis_text.h"
#include "text/jobs_text.h"
#include "text/result_text.h"

namespace feedrate::tests {
namespace {

using judge::Severity;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const judge::Flag kFromMemory{"page_cache", Severity::serious, "all of it lay in memory", "look"};

judge::Flag stolen(double share) {
  return {"cpu_steal", Severity::warning, "the hypervisor took some", "wait", share};
}

ledger::Record quoted_record(std::vector<judge::Flag> flags) {
  run::CellResult result =
      result_of({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}},
                {.ranks = {rank_of(0, 41)}});
  const plan::Cell cell = result.cell;
  ledger::Record record = ledger::make_record(
      std::move(result), {plan::PlannedRun{cell, plan::Role::cell}, 0, {}, {}, {}}, {});
  record.flags = std::move(flags);
  return record;
}

session::RunCaveats caveats_with(const std::vector<std::vector<judge::Flag>>& runs) {
  session::RunCaveats seen;
  for (const auto& flags : runs) seen.add(quoted_record(flags), "a run");
  return seen;
}

TEST(DoNotQuote, NamesEachSeriousFlagWithItsRuns) {
  const judge::RaisedFlag raised[] = {
      {kFromMemory, 6}, {stolen(0.3), 6}, {{"stopped", Severity::serious, "for 12 s", "wait"}, 1}};
  EXPECT_EQ(text::do_not_quote_line(raised, 6),
            "DO NOT QUOTE: page_cache in 6 of 6 runs (all of it lay in memory); stopped in 1 of 6 "
            "runs (for 12 s)\n");
  EXPECT_EQ(text::do_not_quote_line({raised, 2}, 1),
            "DO NOT QUOTE: page_cache (all of it lay in memory)\n");
  EXPECT_EQ(text::do_not_quote_line({raised + 1, 1}, 6), "");
}

// 140 characters of a reason at most.
TEST(DoNotQuote, CutsALongReasonBetweenWords) {
  const std::string fits = std::string(128, 'x') + " the storage";
  const std::string line = "DO NOT QUOTE: page_cache (";
  const auto line_for = [](const std::string& reason) {
    const judge::RaisedFlag raised{{"page_cache", Severity::serious, reason, "look"}, 1};
    return text::do_not_quote_line({&raised, 1}, 1);
  };
  EXPECT_EQ(line_for(fits), line + fits + ")\n");
  EXPECT_EQ(line_for(fits + "s"), line + std::string(128, 'x') + " the …)\n");
  EXPECT_EQ(line_for(std::string(141, 'x')), line + std::string(139, 'x') + "…)\n")
      << "there is but one word";
}

TEST(Noise, OfMostRunsHasItsWorstFigure) {
  const std::vector<judge::Flag> none;
  const auto noise = [](const session::RunCaveats& seen) {
    return text::noise_text(seen.raised(), seen.runs());
  };
  EXPECT_EQ(noise(caveats_with({{stolen(0.03)}, {stolen(0.073)}, none})),
            "; noise in most runs: cpu_steal in 2 of 3, up to 7.3 %");
  EXPECT_EQ(noise(caveats_with({{stolen(0.03)}, none})), "") << "half of them";
  EXPECT_EQ(noise(caveats_with({{stolen(0.03)}})), "; noise: cpu_steal 3.0 %");
  EXPECT_EQ(noise(caveats_with({{stolen(0)}, {stolen(0)}})),
            "; noise in most runs: cpu_steal in 2 of 2")
      << "no record holds the figure";
  EXPECT_EQ(noise(caveats_with({{kFromMemory}})), "") << "it is none";
  EXPECT_EQ(text::first_lines(caveats_with({{stolen(0.03), kFromMemory}, {stolen(0.02)}})),
            "DO NOT QUOTE: page_cache in 1 of 2 runs (all of it lay in memory (a run))\n"
            "noise in most runs: cpu_steal in 2 of 2, up to 3.0 %\n");
}

TEST(FirstLine, OfARunSaysWhetherItMayBeQuoted) {
  const std::vector<ledger::Record> sound = {quoted_record({})},
                                    one = {quoted_record({kFromMemory, stolen(0.05)})};
  for (const bool verbose : {false, true}) {
    EXPECT_THAT(text::runs_text(sound, "", verbose), Not(HasSubstr("DO NOT QUOTE")));
    const std::string said = text::runs_text(one, "", verbose);
    EXPECT_THAT(said, StartsWith("DO NOT QUOTE: page_cache (all of it lay in memory)\n"));
    EXPECT_THAT(said, testing::ContainsRegex("\n  verdict [^\n]*; noise: cpu_steal 5.0 %\n"));
  }
  std::vector<ledger::Record> several(3, quoted_record({}));
  several[2] = quoted_record({kFromMemory});
  several[2].context.run.repetition = 2;
  EXPECT_THAT(text::runs_text(several, "", /*verbose=*/true),
              StartsWith("DO NOT QUOTE: page_cache in 1 of 3 runs (all of it lay in memory "
                         "(repetition 3))\n"));
}

TEST(FirstLine, OfJobsSaysWhetherTheyMayBeQuoted) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).at(0);
  const std::vector<session::PlannedJob> jobs(2, {.cell = cell, .data = {}, .name = "a job"});
  session::JobsRepetition one{.alone = {1000, 1000}, .together = {500, 500}, .overlap = 0.97};
  EXPECT_THAT(text::jobs_text(jobs, {{one}, {}}), StartsWith("images/s alone and together"));
  one.seen = caveats_with({{kFromMemory}, {}});
  EXPECT_THAT(text::jobs_text(jobs, {{one}, {}}),
              StartsWith("DO NOT QUOTE: page_cache in 1 of 2 runs ("));
}

std::string diagnosed_with(const ledger::SeenInRounds& seen) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).at(0);
  session::DiagnosisAnswer answer{
      .of = {.cell = cell, .device = "a device (EMULATED)"}, .evidence = {}, .diagnosis = {}};
  answer.of.seen = seen;
  answer.evidence.rounds.emplace_back();
  answer.diagnosis.finding.sentence = "decode limits it";
  testing::internal::CaptureStdout();
  text::print_diagnosis(/*as_json=*/false, answer);
  return testing::internal::GetCapturedStdout();
}

TEST(FirstLine, OfADiagnosisSaysWhetherItMayBeQuoted) {
  ledger::SeenInRounds seen{.rounds = 1};
  seen.runs = 4;
  EXPECT_THAT(diagnosed_with(seen), StartsWith("jpeg"));
  seen.flags = {{kFromMemory, 3}, {stolen(0.05), 3}};
  const std::string said = diagnosed_with(seen);
  EXPECT_THAT(said, StartsWith("DO NOT QUOTE: page_cache in 3 of 4 runs (all of it lay in memory)"
                               "\njpeg"));
  EXPECT_THAT(said,
              HasSubstr("\ndecode limits it; noise in most runs: cpu_steal in 3 of 4, up to"));
  EXPECT_THAT(said, HasSubstr("\n  serious: page_cache in 3 of 4 runs: "));
}

// Of the search, and of the run from memory.
TEST(FirstLine, OfACapacitySaysWhetherItMayBeQuoted) {
  const plan::Cell cell =
      plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"gpus", {"1"}}}).at(0);
  const session::SearchedCell searched = session::searched_cell(cell);
  session::Found found{.search = {{session::kLeastUtilisation}, {1, 1, 1}}, .without_cpu = {}};
  const auto said = [&](const std::optional<session::ClientLimit>& client) {
    testing::internal::CaptureStdout();
    text::CapacityAnswer(searched, {}, found).print(client, /*own_h200=*/false);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_THAT(said({}), StartsWith("EMULATED GPUs"));
  session::ClientLimit client;
  client.seen = caveats_with({{kFromMemory}});
  EXPECT_THAT(said(client), StartsWith("DO NOT QUOTE: page_cache ("));
  found.seen = caveats_with({{}, {kFromMemory}});
  EXPECT_THAT(said({}), StartsWith("DO NOT QUOTE: page_cache in 1 of 2 runs ("));
}

}  // namespace
}  // namespace feedrate::tests
