#include "cli/diagnosing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "measure/affinity.h"
#include "plan/expand.h"

namespace feedrate::tests {
namespace {

using cli::LadderCells;
using diagnose::Rung;
using measure::Place;

plan::Cell cell_of(plan::AxisValues values) {
  values.insert({"device", {"emulated:1000"}});
  values.insert({"data", {"jpeg"}});
  values.insert({"workers", {"2"}});
  return plan::expand(values).at(0);
}
std::set<Rung> rungs_of(const LadderCells& ladder) {
  std::set<Rung> rungs;
  for (const auto& [rung, cell] : ladder) rungs.insert(rung);
  return rungs;
}
std::set<std::string> ids_of(const LadderCells& ladder) {
  std::set<std::string> ids;
  for (const auto& [rung, cell] : ladder) ids.insert(cell.id());
  return ids;
}

TEST(LadderOf, PicturesHaveEveryRung) {
  const plan::Cell cell = cell_of({});
  const LadderCells ladder = cli::ladder_of(cell);
  EXPECT_EQ(rungs_of(ladder).size(), diagnose::kRungs);
  EXPECT_EQ(ids_of(ladder).size(), ladder.size()) << "each is another cell";
  EXPECT_EQ(ladder.at(Rung::none), cell);
  EXPECT_EQ(ladder.at(Rung::synthetic), plan::ceiling_of(cell));
  EXPECT_TRUE(ladder.at(Rung::cold).is("page-cache", "cold"));
  for (const Rung rung :
       {Rung::device, Rung::host, Rung::sample, Rung::decoded, Rung::encoded, Rung::discard}) {
    EXPECT_TRUE(ladder.at(rung).is("cache", diagnose::name_of(rung)));
    EXPECT_TRUE(ladder.at(rung).is("data", "jpeg"));
  }
}

TEST(LadderOf, LoadersAloneHaveEveryCpu) {
  const LadderCells ladder = cli::ladder_of(cell_of({{"gpus", {"2"}}, {"host-cpu-ms", {"5"}}}));
  const plan::CellSettings alone = plan::settings_of(ladder.at(Rung::cpus));
  EXPECT_EQ(alone.device, "emulated:inf");
  EXPECT_EQ(alone.workers, std::max(1, measure::allowed_cpus() / 2));
  EXPECT_LE(alone.emulation.host_cpu_ms, 0);
  EXPECT_EQ(alone.data, "jpeg");
}

TEST(LadderOf, TensorsAreNotDecoded) {
  const LadderCells ladder = cli::ladder_of(cell_of({{"data", {"tensor"}}}));
  EXPECT_FALSE(ladder.contains(Rung::decoded));
  for (const Rung rung : {Rung::synthetic, Rung::device, Rung::host, Rung::sample, Rung::none,
                          Rung::cold, Rung::discard})
    EXPECT_TRUE(ladder.contains(rung)) << diagnose::name_of(rung);
}

TEST(LadderOf, AColdCellHasAWarmRungAboveIt) {
  const plan::Cell cell = cell_of({{"page-cache", {"cold"}}});
  const LadderCells ladder = cli::ladder_of(cell);
  EXPECT_EQ(cli::own_rung(cell), Rung::cold);
  EXPECT_EQ(ladder.at(Rung::cold), cell);
  EXPECT_TRUE(ladder.at(Rung::none).is("page-cache", "warm"));
  EXPECT_EQ(rungs_of(ladder).size(), diagnose::kRungs)
      << "what keeps files in memory cares for no page cache";
  EXPECT_EQ(cli::own_rung(cell_of({})), Rung::none);
}

TEST(LadderOf, WithoutWorkersNobodyLoadsBesideTheSteps) {
  EXPECT_FALSE(cli::ladder_of(cell_of({{"workers", {"0"}}})).contains(Rung::discard));
}

// Direct I/O goes past the page cache: there is nothing cold about it.
TEST(LadderOf, DirectReadsHaveNoColdRung) {
  const LadderCells ladder = cli::ladder_of(cell_of({{"io", {"direct"}}}));
  EXPECT_FALSE(ladder.contains(Rung::cold));
  EXPECT_TRUE(ladder.contains(Rung::none));
}

TEST(With, ChangesOneValueAndKeepsTheOthers) {
  const auto more = cli::with(cell_of({{"batch-size", {"16"}}}), {{"workers", "7"}});
  ASSERT_TRUE(more);
  EXPECT_TRUE(more->is("workers", "7"));
  EXPECT_TRUE(more->is("batch-size", "16"));
  EXPECT_EQ(cli::with(*more, {{"workers", "2"}})->id(), cell_of({{"batch-size", {"16"}}}).id());
}

TEST(With, AnEmptyValueIsTheDefault) {
  const plan::Cell cell = cell_of({{"prefetch", {"9"}}});
  EXPECT_EQ(cli::with(cell, {{"prefetch", ""}})->id(), cell_of({}).id());
}

TEST(With, WhatCannotBeIsNothing) {
  EXPECT_FALSE(cli::with(cell_of({{"data", {"tensor"}}}), {{"cache", "decoded"}}));
  EXPECT_FALSE(cli::with(cell_of({}), {{"workers", "many"}}));
  EXPECT_FALSE(cli::with(cell_of({}), {{"no such axis", "1"}}));
}

// What is advised for a cold cell, --try measures as such a cell.
TEST(With, AColdCellMayKeepItsFiles) {
  const plan::Cell cold = cell_of({{"page-cache", {"cold"}}});
  for (const char* cache : {"encoded", "decoded", "sample"})
    EXPECT_TRUE(cli::with(cold, {{"cache", cache}})) << cache;
  EXPECT_TRUE(cli::with(cold, {{"data", "tensor"}, {"image-size", ""}}));
}

std::vector<std::string> probes_of(const plan::CellSettings& settings, bool storage = false,
                                   bool launching = false) {
  std::vector<std::string> names;
  const cli::ProbesWanted wanted{measure::kPlaces, storage, launching};
  for (const cli::Probe& probe : cli::probes_of(settings, wanted))
    names.push_back(std::string(measure::kPlaceNames[static_cast<std::size_t>(probe.place)]) +
                    (probe.burns ? " burnt" : ""));
  return names;
}
using Names = std::vector<std::string>;

TEST(ProbesOf, AreWhatTheCellHas) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  EXPECT_EQ(probes_of(settings), (Names{"worker", "worker burnt", "copy", "step"}));
  settings.gpus = 2;
  EXPECT_EQ(probes_of(settings).back(), "all-reduce");
}

TEST(ProbesOf, TheStorageIsAskedWhereReadsReachIt) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  EXPECT_EQ(probes_of(settings, true),
            (Names{"worker", "worker burnt", "copy", "step", "storage"}));
  settings.loader = "dali";
  EXPECT_EQ(probes_of(settings, true), (Names{"copy", "step"})) << "it tells of no sample";
}

TEST(ProbesOf, TheThreadThatLaunchesIsAskedLast) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  EXPECT_EQ(probes_of(settings, false, true),
            (Names{"worker", "worker burnt", "copy", "step", "step burnt"}));
  settings.device_kind = "cpu";
  EXPECT_EQ(probes_of(settings, false, true), (Names{"worker", "worker burnt", "step"}))
      << "it trains itself";
}

TEST(ProbesOf, OneThreadThatLoadsIsNotAskedForItsCpu) {
  EXPECT_EQ(probes_of(plan::settings_of(cell_of({{"workers", {"0"}}}))), (Names{"worker", "step"}))
      << "it also waits for the emulated copy";
}

TEST(ProbesOf, OnACpuTheCopyIsOfTheStep) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  settings.device_kind = "cpu";
  EXPECT_EQ(probes_of(settings), (Names{"worker", "worker burnt", "step"}));
}

TEST(ProbesOf, AreThoseThatTheDeviceServes) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  settings.gpus = 2;
  const measure::Place served[] = {measure::Place::step};
  const auto probes = cli::probes_of(settings, {.served = served, .storage = true});
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes.front().place, measure::Place::step);
}

TEST(ProbesOf, DaliHasNoWorkersToDelay) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  settings.loader = "dali";
  EXPECT_EQ(probes_of(settings), (Names{"copy", "step"}));
}

// Seconds of a round's blocks, settling included, where steps are short.
double blocks_s(const record::DiagnosisPlan& plan, std::size_t probes) {
  return 2.0 * plan.pairs * static_cast<double>(probes) * 1.2 * plan.blocks.seconds;
}

TEST(PlanOf, TheBudgetIsSharedByTheRounds) {
  const auto plan = cli::plan_of(120, 9, 0.01, 4);
  EXPECT_EQ(plan.rounds, 6);
  EXPECT_EQ(plan.pairs, 2) << "two of 0.6 s fit";
  EXPECT_NEAR(blocks_s(plan, 4), 120 / 6.0 - 9 - 1, 1e-9) << "1 s is for the start";
  EXPECT_GE(plan.block_run_s, blocks_s(plan, 4) - 1e-9);
  EXPECT_EQ(plan.blocks.least_steps, 6);
  EXPECT_TRUE(plan.blocks.blocks.empty()) << "each round draws its own";
}

TEST(PlanOf, EachPlaceHasSixPairsAndTheBudgetIsKept) {
  for (const double budget_s : {20.0, 60.0, 120.0, 600.0}) {
    for (const double ladder_s : {1.0, 5.0, 10.0}) {
      for (const double step_s : {0.001, 0.02, 0.1}) {
        for (const std::size_t probes : {1, 3, 5}) {
          const auto plan = cli::plan_of(budget_s, ladder_s, step_s, probes);
          EXPECT_GE(plan.rounds, 1);
          EXPECT_LE(plan.rounds, 6);
          EXPECT_GE(plan.rounds * plan.pairs, 6);
          EXPECT_GE(1.2 * plan.blocks.seconds, 0.2 - 1e-9);
          EXPECT_LE(plan.blocks.seconds, 3);
          if (plan.rounds > 1) {
            EXPECT_LE(plan.rounds * (ladder_s + 1 + blocks_s(plan, probes)), budget_s + 1e-6);
          }
        }
      }
    }
  }
}

TEST(PlanOf, TheLadderHasHalfOfTheTimeWhereThreeRoundsFit) {
  EXPECT_EQ(cli::plan_of(60, 9, 0.01, 4).rounds, 3)
      << "10 s are left of each round, in four rounds 5 s: less than the ladder takes";
  EXPECT_EQ(cli::plan_of(40, 9, 0.01, 4).rounds, 3) << "3.3 s of 13.3 will do for an interval";
}

TEST(PlanOf, LongStepsNeedFewerRoundsWithLongerBlocks) {
  const auto short_steps = cli::plan_of(120, 5, 0.01, 4), long_steps = cli::plan_of(120, 5, 0.2, 4);
  EXPECT_EQ(short_steps.rounds, 6);
  EXPECT_LT(long_steps.rounds, 6);
  EXPECT_GE(1.2 * long_steps.blocks.seconds, 9 * 0.2 - 1e-9) << "3 steps to settle, and 6 more";
}

TEST(PlanOf, ABudgetThatIsTooShortHasOneRoundWithTheBlocksThatFit) {
  const auto plan = cli::plan_of(15, 10, 0.05, 4);
  EXPECT_EQ(plan.rounds, 1);
  EXPECT_EQ(plan.pairs, 6);
  EXPECT_NEAR(plan.block_run_s, 15 - 10 - 1, 1e-9);
  const auto none_left = cli::plan_of(5, 10, 0.05, 4);
  EXPECT_EQ(none_left.rounds, 1);
  EXPECT_GE(none_left.block_run_s, 4 * 9 * 0.05 - 1e-9) << "two pairs all the same";
}

TEST(PlanOf, BlocksAreNoLongerThanThreeSeconds) {
  const auto plan = cli::plan_of(7200, 5, 0.01, 4);
  EXPECT_EQ(plan.rounds, 6);
  EXPECT_NEAR(1.2 * plan.blocks.seconds, 3, 1e-9);
}

TEST(PlanOf, StepsOfHalfASecondHaveBlocksOfNineSteps) {
  EXPECT_GE(1.2 * cli::plan_of(7200, 60, 0.5, 4).blocks.seconds, 9 * 0.5 - 1e-9);
}

}  // namespace
}  // namespace feedrate::tests
