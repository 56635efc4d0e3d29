#include "ledger/rounds_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "tests/judge/made_up_evidence.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace feedrate::tests {
namespace {

using judge::LadderRung;
using testing::AllOf;
using testing::HasSubstr;

ledger::Rounds made_up_rounds(std::size_t count) {
  ledger::Rounds rounds{
      .head = {.cell_id = "0123456789abcdef",
               .device = "a \"GPU\"",
               .plan = {.rounds = 4,
                        .pairs = 2,
                        .blocks = {.blocks = {}, .seconds = 0.1 + 0.2, .least_steps = 9},
                        .block_run_s = 12.5,
                        .batch_size = 8},
               .servers = {.workers = 8, .cpus = 3.5, .images_per_step = 64},
               .seen = {.blocks_failed = "a file is broken"}}};
  for (std::size_t n = 0; n < count; ++n) {
    judge::RoundEvidence round{.step_cpu_s = 1e-3 / 3,
                               .all_reduce_share = 0.25,
                               .cpu_quota_stopped = 0.375,
                               .open_share = 0.5,
                               .page_cache = "cold"};
    round.rates = {{LadderRung::synthetic, 1000.0 / 3},
                   {LadderRung::cold, 7.0 + static_cast<double>(n)}};
    round.pairs = {{measure::Place::all_reduce, {123, false}, 90.5, 100.25},
                   {measure::Place::worker, {456, true}, 80, 100},
                   {measure::Place::storage, {.reads = 0.19}, 80, 100},
                   {measure::Place::in_flight, {.withheld = 0.25}, 75, 100}};
    round.capacities = {{"loader", 250, 0.8, "decode", 0.5}};
    round.undelayed.emplace();
    (*round.undelayed)[measure::Stage::decode] = {11, 12, 13, 14};
    round.undelayed->cpu_wait_ns = 15;
    rounds.rounds.push_back(round);
  }
  return rounds;
}

std::string text_of(const TemporaryFolder& folder) {
  return read_whole_text(folder.path() / ledger::kRoundsFile);
}
void replace_text(const TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder.path() / ledger::kRoundsFile) << text;
}

// Whether the answer may be quoted, after --resume as well.
TEST(RoundsFile, KeepsHowSevereAFlagIs) {
  const TemporaryFolder folder;
  ledger::Rounds written = made_up_rounds(1);
  written.head.seen.runs = 9;
  written.head.seen.flags = {{{"cpu_steal", judge::Severity::warning, "some", "wait", 0.0625}, 4},
                             {{"page_cache", judge::Severity::serious, "in memory", "look"}, 2}};
  ledger::write_rounds(folder.path(), written);
  const auto flags = ledger::read_rounds(folder.path())->head.seen.flags;
  ASSERT_EQ(flags.size(), 2u);
  EXPECT_EQ(flags[0].flag.name, "cpu_steal");
  EXPECT_EQ(flags[0].flag.severity, judge::Severity::warning);
  EXPECT_EQ(flags[0].flag.figure, 0.0625);
  EXPECT_EQ(flags[1].flag.severity, judge::Severity::serious);
  EXPECT_EQ(flags[1].runs, 2);
}

// As folders of before have it: what made a number unfit to be quoted still does.
TEST(RoundsFile, AFlagThatDoesNotSayHowSevereItIsIsAsItsRuleHasIt) {
  const TemporaryFolder folder;
  ledger::Rounds written = made_up_rounds(1);
  for (const char* name : {"stopped", "cpu_steal", "no_such_rule"})
    written.head.seen.flags.push_back({{name, judge::Severity::note, "some", "wait"}, 1});
  ledger::write_rounds(folder.path(), written);
  std::string text = text_of(folder);
  const std::string field = "\"severity\":\"note\",";
  for (int n = 0; n < 3; ++n) {
    ASSERT_NE(text.find(field), std::string::npos);
    text.erase(text.find(field), field.size());
  }
  replace_text(folder, text);
  const auto flags = ledger::read_rounds(folder.path())->head.seen.flags;
  ASSERT_EQ(flags.size(), 3u);
  EXPECT_EQ(flags[0].flag.severity, judge::Severity::serious);
  EXPECT_EQ(flags[1].flag.severity, judge::Severity::warning);
  EXPECT_EQ(flags[2].flag.severity, judge::Severity::warning);
}

TEST(RoundsFile, BringsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const ledger::Rounds written = made_up_rounds(2);
  ledger::write_rounds(folder.path(), written);
  const auto found = ledger::read_rounds(folder.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->head.cell_id, written.head.cell_id);
  EXPECT_EQ(found->head.device, written.head.device);
  EXPECT_EQ(found->head.plan.rounds, 4);
  EXPECT_EQ(found->head.plan.pairs, 2);
  EXPECT_EQ(found->head.plan.blocks.seconds, 0.1 + 0.2) << "to the last bit";
  EXPECT_EQ(found->head.plan.blocks.least_steps, 9);
  EXPECT_EQ(found->head.plan.block_run_s, 12.5);
  EXPECT_EQ(found->head.servers.workers, 8);
  EXPECT_EQ(found->head.servers.cpus, 3.5);
  EXPECT_EQ(found->head.servers.images_per_step, 64);
  EXPECT_EQ(found->head.seen.blocks_failed, "a file is broken");
  ASSERT_EQ(found->rounds.size(), 2u);
  const judge::RoundEvidence& round = found->rounds[1];
  EXPECT_EQ(round.rates, written.rounds[1].rates);
  EXPECT_EQ(round.step_cpu_s, 1e-3 / 3);
  EXPECT_EQ(round.all_reduce_share, 0.25);
  EXPECT_EQ(round.cpu_quota_stopped, 0.375);
  EXPECT_EQ(round.open_share, 0.5);
  EXPECT_EQ(round.page_cache, "cold");
  ASSERT_EQ(round.pairs.size(), 4u);
  EXPECT_EQ(round.pairs[3].place, measure::Place::in_flight);
  EXPECT_EQ(round.pairs[3].delay.withheld, 0.25);
  EXPECT_EQ(found->head.plan.batch_size, 8);
  EXPECT_EQ(round.pairs[2].place, measure::Place::storage);
  EXPECT_EQ(round.pairs[2].delay.reads, 0.19);
  EXPECT_EQ(round.pairs[0].place, measure::Place::all_reduce);
  EXPECT_EQ(round.pairs[0].delay.ns, 123);
  EXPECT_FALSE(round.pairs[0].delay.burns);
  EXPECT_EQ(round.pairs[0].on, 90.5);
  EXPECT_EQ(round.pairs[0].off, 100.25);
  EXPECT_TRUE(round.pairs[1].delay.burns);
  ASSERT_EQ(round.capacities.size(), 1u);
  EXPECT_EQ(round.capacities[0].largest_stage, "decode");
  EXPECT_EQ(round.capacities[0].utilisation, 0.8);
  ASSERT_TRUE(round.undelayed);
  EXPECT_EQ((*round.undelayed)[measure::Stage::decode].bytes, 14);
  EXPECT_EQ(round.undelayed->cpu_wait_ns, 15);
}

TEST(RoundsFile, ARoundWhoseBlocksFailedHasNone) {
  const TemporaryFolder folder;
  ledger::Rounds written = made_up_rounds(1);
  written.rounds[0].undelayed.reset();
  written.rounds[0].pairs.clear();
  ledger::write_rounds(folder.path(), written);
  const auto found = ledger::read_rounds(folder.path());
  ASSERT_TRUE(found && found->rounds.size() == 1);
  EXPECT_FALSE(found->rounds[0].undelayed);
  EXPECT_TRUE(found->rounds[0].pairs.empty());
}

TEST(RoundsFile, IsReplacedAsAWhole) {
  const TemporaryFolder folder;
  ledger::write_rounds(folder.path(), made_up_rounds(3));
  ledger::write_rounds(folder.path(), made_up_rounds(1));
  EXPECT_EQ(ledger::read_rounds(folder.path())->rounds.size(), 1u);
}

TEST(RoundsFile, NoFileAndNothingWholeAreNothing) {
  const TemporaryFolder folder;
  EXPECT_FALSE(ledger::read_rounds(folder.path()));
  replace_text(folder, "");
  EXPECT_FALSE(ledger::read_rounds(folder.path()));
  replace_text(folder, R"({"schema":"feedrate.rou)");
  EXPECT_FALSE(ledger::read_rounds(folder.path()));
}

TEST(RoundsFile, ATornLastLineIsLeftOut) {
  const TemporaryFolder folder;
  ledger::write_rounds(folder.path(), made_up_rounds(3));
  const std::string text = text_of(folder);
  for (const std::size_t torn : {std::size_t{1}, std::size_t{20}}) {
    replace_text(folder, text.substr(0, text.size() - torn));
    EXPECT_EQ(ledger::read_rounds(folder.path())->rounds.size(), 2u);
  }
}

// As folders of before have it.
TEST(RoundsFile, AHeadThatKnowsNothingOfFailedBlocksHasNone) {
  const TemporaryFolder folder;
  ledger::write_rounds(folder.path(), made_up_rounds(1));
  std::string text = text_of(folder);
  const std::string field = ",\"blocks_failed\":\"a file is broken\"";
  ASSERT_NE(text.find(field), std::string::npos);
  replace_text(folder, text.erase(text.find(field), field.size()));
  EXPECT_EQ(ledger::read_rounds(folder.path())->head.seen.blocks_failed, "");
}

TEST(RoundsFile, AForeignLineIsNamedWithItsNumber) {
  const TemporaryFolder folder;
  ledger::write_rounds(folder.path(), made_up_rounds(1));
  const std::string text = text_of(folder);
  for (const std::string& line :
       {std::string("no JSON"), std::string("7"), std::string("{}"), std::string("null"),
        std::string(10'000, '['), text.substr(0, text.find('\n'))}) {
    replace_text(folder, text + line + "\n");
    EXPECT_THAT(message_of([&] { ledger::read_rounds(folder.path()); }),
                AllOf(HasSubstr("rounds.jsonl, line 3"), HasSubstr("is no round of a diagnosis")));
  }
}

TEST(RoundsFile, ANameThatIsUnknownIsRefused) {
  const TemporaryFolder folder;
  ledger::write_rounds(folder.path(), made_up_rounds(1));
  const std::string text = text_of(folder);
  for (const std::string name : {"\"synthetic\"", "\"all-reduce\"", "feedrate.rounds/1"}) {
    std::string other = text;
    ASSERT_NE(other.find(name), std::string::npos) << name;
    other.replace(other.find(name) + 1, 3, "xyz");
    replace_text(folder, other);
    EXPECT_THAT(message_of([&] { ledger::read_rounds(folder.path()); }),
                HasSubstr("is no round of a diagnosis"))
        << name;
  }
}

TEST(RoundsFile, ARoundAloneIsNoDiagnosis) {
  const TemporaryFolder folder;
  ledger::write_rounds(folder.path(), made_up_rounds(1));
  const std::string text = text_of(folder);
  replace_text(folder, text.substr(text.find('\n') + 1));
  EXPECT_THAT(message_of([&] { ledger::read_rounds(folder.path()); }), HasSubstr("line 1"));
}

// As in all that the program writes: bytes that are no UTF-8 are replaced, not refused.
TEST(RoundsFile, ADevicesNameMayBeAnyBytes) {
  const TemporaryFolder folder;
  ledger::Rounds written = made_up_rounds(1);
  written.head.device = "GPU \xff";
  EXPECT_NO_THROW(ledger::write_rounds(folder.path(), written));
}

}  // namespace
}  // namespace feedrate::tests
