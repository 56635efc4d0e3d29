#include "text/jobs_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// "job 1", "job 2", ..., on emulated devices that take 1,000 images/s.
std::vector<session::PlannedJob> made_up_jobs(std::size_t count) {
  const plan::Cell cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).at(0);
  std::vector<session::PlannedJob> jobs;
  for (std::size_t i = 0; i < count; ++i)
    jobs.push_back({.cell = cell, .data = {}, .first = i, .name = "job " + std::to_string(i + 1)});
  return jobs;
}

// Each reaches 1,000 images/s alone, and together these; 0: it failed.
session::JobsRepetition repetition(const std::vector<double>& together, double overlap = 0.97) {
  session::JobsRepetition found{.alone = {}, .together = {}, .overlap = overlap};
  for (const double rate : together) {
    found.alone.emplace_back(1000);
    found.together.push_back(rate > 0 ? std::optional(rate) : std::nullopt);
  }
  return found;
}

std::string text_of(const std::vector<session::JobsRepetition>& repetitions) {
  return text::jobs_text(made_up_jobs(repetitions.front().together.size()), {repetitions, {}});
}

TEST(JobsText, OfOneRepetitionHasNoIntervals) {
  EXPECT_EQ(text_of({repetition({500, 990})}),
            "images/s alone and together; of device: of the rate that was set\n"
            "     alone   together  of alone of device\n"
            "     1,000        500    50.0 %    50.0 %  job 1\n"
            "     1,000        990    99.0 %    99.0 %  job 2\n"
            "\n"
            "fairness: 0.902, Jain's index of the 2 shares x of alone: (sum of x)^2 / (n * sum of "
            "x^2)\n"
            "  1: all alike, 1/n: one has all (Jain, Chiu and Hawe 1984, DEC-TR-301)\n"
            "first to starve: job 1, 50.0 % of alone (no interval below 3 runs)\n"
            "overlap: all measured at once for 97.0 % of the longest window\n"
            "1000 img/s (EMULATED): emulation not yet compared with a GPU\n");
  EXPECT_THAT(text_of({repetition({960, 990})}),
              HasSubstr("first to starve: none; the least is 96.0 % of alone, job 1 (no interval "
                        "below 3 runs)\n"));
}

TEST(JobsText, OfThreeRepetitionsHasMeansAndIntervals) {
  const std::string text =
      text_of({repetition({495, 800}, 0.98), repetition({500, 800}, 0.96), repetition({505, 800})});
  EXPECT_THAT(text, StartsWith("images/s alone and together, means of 3 repetitions (95 % "
                               "intervals); of device: of the rate that was set\n"));
  EXPECT_THAT(text, HasSubstr(" 500 (488 to 513)  50.0 % (48.8 to 51.3)  50.0 % (48.8 to 51.3)  "
                              "job 1\n"));
  EXPECT_THAT(text, HasSubstr("first to starve: job 1, 50.0 % (48.8 to 51.3) of alone\n"));
  EXPECT_THAT(text, HasSubstr("for at least 96.0 % of the longest window of each repetition\n"));
}

TEST(JobsText, TwoRepetitionsSayThatTheyHaveNoInterval) {
  const std::string text = text_of({repetition({400, 800}), repetition({600, 800})});
  EXPECT_THAT(text, HasSubstr(", means of 2 repetitions (no interval below 3);"));
  EXPECT_THAT(text, HasSubstr("     1,000        500    49.0 %    50.0 %  job 1\n"));
  EXPECT_THAT(text, Not(HasSubstr(" to 6")));
}

TEST(JobsText, NamesTheFirstToStarveWhereTheIntervalsDo) {
  EXPECT_THAT(text_of({repetition({520, 900, 500}), repetition({500, 900, 530}),
                       repetition({510, 900, 500})}),
              HasSubstr("first to starve: not clear between job 1 and job 3\n"));
  EXPECT_THAT(
      text_of({repetition({970, 999}), repetition({930, 999}), repetition({950, 999})}),
      HasSubstr("first to starve: not clear between job 1 and job 2, nor whether one does\n"));
  EXPECT_THAT(text_of({repetition({955, 999}), repetition({945, 999}), repetition({950, 999})}),
              HasSubstr("first to starve: not clear whether job 1 does: 95.0 % ("));
}

TEST(JobsText, LeavesOutARepetitionInWhichOthersMeasured) {
  const std::string text = text_of({repetition({500, 800}), repetition({900, 0}),
                                    repetition({500, 800}), repetition({500, 800})});
  EXPECT_THAT(text, HasSubstr("means of 3 repetitions (95 % intervals)"));
  EXPECT_THAT(text, HasSubstr("left out: repetition 2, in which not all"));
  EXPECT_THAT(text, HasSubstr("50.0 % (50.0 to 50.0)"));
}

// The heading is of what the columns are of, the run alone included.
TEST(JobsText, AHeadingCountsTheRepetitionsThatAreLeft) {
  session::JobsRepetition other = repetition({900, 0});
  other.alone[0] = 2000;
  const std::string two = text_of({repetition({500, 800}), other, repetition({500, 800})});
  EXPECT_THAT(two, HasSubstr("means of 2 repetitions (no interval below 3)"));
  EXPECT_THAT(two, HasSubstr("     1,000        500    50.0 %    50.0 %  job 1\n"));
  EXPECT_THAT(text_of({repetition({500, 800}), other}),
              HasSubstr(", of 1 repetition (no interval below 3)"));
}

TEST(JobsText, AJobThatAlwaysFailsIsNoPartOfTheAnswer) {
  const std::string text = text_of({repetition({500, 0, 800}), repetition({500, 0, 800})});
  EXPECT_THAT(text, HasSubstr("         -         -         -  job 2\n"));
  EXPECT_THAT(text, HasSubstr("of the 2 shares"));
  EXPECT_THAT(text, Not(HasSubstr("left out")));
}

TEST(JobsText, WhatMustNotBeQuotedIsSaidOnce) {
  const judge::Flag flag{.name = "cpu_steal", .reason = "20 % were stolen"};
  const session::JobsRepetition one = repetition({500, 800});
  EXPECT_THAT(text::jobs_text(made_up_jobs(2), {{one}, {{"alone: job 1", flag, {0}}}}),
              HasSubstr("not to be quoted: alone: job 1: cpu_steal: 20 % were stolen\n"));
  EXPECT_THAT(text::jobs_text(made_up_jobs(2), {{one, one, one}, {{"alone: job 1", flag, {0, 2}}}}),
              HasSubstr("cpu_steal: 20 % were stolen (in 2 of 3 repetitions)\n"));
}

// Whether the storage was measured, and what else to know; what spoils a run is named by itself.
TEST(JobsText, UnderTheAnswerStandThePageCacheAndTheFlags) {
  ledger::Record record;
  record.result.measurement.emplace().page_cache = {.state = "warm", .before = 1};
  const judge::Flag serious{"cpu_steal", judge::Severity::serious, "20 % were stolen", "wait"};
  record.flags = {{"emulated", judge::Severity::note, "no device", "look"}, serious};
  session::JobsRepetition one = repetition({500, 800}), other = one;
  one.seen.add(record, "alone: job 1");
  other.seen.add(record, "together: job 2");
  EXPECT_THAT(text::jobs_text(made_up_jobs(2), {{one, other}, {{"alone: job 1", serious, {0}}}}),
              EndsWith("of the longest window of each repetition\n"
                       "1000 img/s (EMULATED): emulation not yet compared with a GPU\n"
                       "  page cache warm\n"
                       "  note       emulated: no device (alone: job 1); look\n"
                       "not to be quoted: alone: job 1: cpu_steal: 20 % were stolen (in 1 of 2 "
                       "repetitions)\n"));
}

// Two ranks of a run may be flagged for the same.
TEST(JobsOutcome, ARunCountsOnceHoweverOftenItIsFlagged) {
  const judge::Flag hot{.name = "throttled", .reason = "rank 0"},
      also_hot{.name = "throttled", .reason = "rank 1"};
  session::JobsOutcome outcome{.repetitions = {repetition({500, 800}), repetition({500, 800})},
                               .spoiled = {}};
  for (const auto& flag : {hot, also_hot}) outcome.spoil(1, "together: job 1", flag);
  EXPECT_THAT(text::jobs_text(made_up_jobs(2), outcome),
              HasSubstr("throttled: rank 0 (in 1 of 2 repetitions)\n"));
}

// "In 3 of 2 repetitions" was said of a run alone in the one that the signal cut short.
TEST(JobsOutcome, WhatIsSaidOfARepetitionGoesWithIt) {
  const judge::Flag stolen{.name = "cpu_steal", .reason = "stolen"},
      stopped{.name = "stopped", .reason = "stood still"};
  session::JobsOutcome outcome;
  for (int i = 0; i < 3; ++i) {
    outcome.spoil(i, "alone: job 1", stolen);
    outcome.repetitions.push_back(i < 2 ? repetition({500, 800}) : repetition({0, 0}));
  }
  outcome.spoil(2, "together: job 2", stopped);
  outcome.drop_last();
  EXPECT_EQ(outcome.repetitions.size(), 2u);
  const std::string text = text::jobs_text(made_up_jobs(2), outcome);
  EXPECT_THAT(text, HasSubstr("cpu_steal: stolen (in 2 of 2 repetitions)\n"));
  EXPECT_THAT(text, Not(HasSubstr("stopped")));
}

TEST(JobsOrder, OneRepetitionIsAsTyped) {
  std::vector<session::PlannedJob> jobs = made_up_jobs(4);
  jobs[2].first = 1, jobs[2].copy = 2;
  for (const std::uint64_t seed : {0u, 1u, 2u})
    EXPECT_EQ(session::order_alone(jobs, 0, 1, seed), (std::vector<std::size_t>{0, 1, 3}));
}

TEST(JobsOrder, EachRepetitionHasTheSameJobsInAnOrderOfItsOwn) {
  const std::vector<session::PlannedJob> jobs = made_up_jobs(4);
  std::set<std::vector<std::size_t>> orders;
  for (int turn = 0; turn < 6; ++turn) {
    auto order = session::order_alone(jobs, turn, 6, 3);
    EXPECT_EQ(order, session::order_alone(jobs, turn, 6, 3)) << "a function of the seed";
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
  }
  EXPECT_GE(orders.size(), 3u);
}

}  // namespace
}  // namespace feedrate::tests
