#include "session/delay_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

plan::Cell cell_of(plan::AxisValues values) {
  values.insert({"device", {"emulated:1000"}});
  values.insert({"data", {"jpeg"}});
  values.insert({"workers", {"2"}});
  return plan::expand(values).at(0);
}
std::vector<std::string> probes_of(const plan::CellSettings& settings, bool storage = false,
                                   bool launching = false) {
  std::vector<std::string> names;
  const session::ProbesWanted wanted{measure::kPlaces, storage, launching};
  for (const session::Probe& probe : session::probes_of(settings, wanted))
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

// They are the loader's: no device serves them.
TEST(ProbesOf, ReadsInFlightAreWithheldWhereTheyMayLimit) {
  const plan::CellSettings settings = plan::settings_of(cell_of({}));
  const measure::Place served[] = {measure::Place::step};
  const auto probes = session::probes_of(settings, {.served = served, .in_flight = true});
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_EQ(probes.back().place, measure::Place::in_flight);
}

// A batch of fewer is the limit itself.
TEST(ProbesOf, ReadsInFlightAreWithheldOnlyWhereABatchHoldsThemTwice) {
  const auto probes = [](const char* loader, const char* batch) {
    const plan::CellSettings settings = plan::settings_of(cell_of(
        {{"loader", {loader}}, {"batch-size", {batch}}, {"io", {"uring"}}, {"io-depth", {"8"}}}));
    return session::probes_of(settings, {.served = {}, .in_flight = true}).size();
  };
  EXPECT_EQ(probes("batch", "16"), 1U);
  EXPECT_EQ(probes("batch", "15"), 0U);
  EXPECT_EQ(probes("pool", "1"), 1U) << "its reads are of the next batches as well";
}

TEST(ProbesOf, AreThoseThatTheDeviceServes) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  settings.gpus = 2;
  const measure::Place served[] = {measure::Place::step};
  const auto probes = session::probes_of(settings, {.served = served, .storage = true});
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes.front().place, measure::Place::step);
}

TEST(ProbesOf, DaliHasNoWorkersToDelay) {
  plan::CellSettings settings = plan::settings_of(cell_of({}));
  settings.loader = "dali";
  EXPECT_EQ(probes_of(settings), (Names{"copy", "step"}));
}

// Seconds of a round's blocks, settling included, where steps are short.
double blocks_s(const ledger::DiagnosisPlan& plan, std::size_t probes) {
  return 2.0 * plan.pairs * static_cast<double>(probes) * 1.2 * plan.blocks.seconds;
}

TEST(PlanOf, TheBudgetIsSharedByTheRounds) {
  const auto plan = session::plan_of(120, 9, 0.01, 4).plan;
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
          const auto plan = session::plan_of(budget_s, ladder_s, step_s, probes).plan;
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
  EXPECT_EQ(session::plan_of(60, 9, 0.01, 4).plan.rounds, 3)
      << "10 s are left of each round, in four rounds 5 s: less than the ladder takes";
  EXPECT_EQ(session::plan_of(40, 9, 0.01, 4).plan.rounds, 3)
      << "3.3 s of 13.3 will do for an interval";
}

TEST(PlanOf, LongStepsNeedFewerRoundsWithLongerBlocks) {
  const auto short_steps = session::plan_of(120, 5, 0.01, 4).plan,
             long_steps = session::plan_of(120, 5, 0.2, 4).plan;
  EXPECT_EQ(short_steps.rounds, 6);
  EXPECT_LT(long_steps.rounds, 6);
  EXPECT_GE(1.2 * long_steps.blocks.seconds, 9 * 0.2 - 1e-9) << "3 steps to settle, and 6 more";
}

TEST(PlanOf, ABudgetThatIsTooShortHasOneRoundWithTheBlocksThatFit) {
  const auto [plan, needs_s, pair_s, holds_no_pair] = session::plan_of(15, 10, 0.05, 4);
  EXPECT_FALSE(holds_no_pair);
  EXPECT_NEAR(pair_s, 2 * 9 * 0.05, 1e-9);
  ASSERT_TRUE(needs_s);
  EXPECT_NEAR(*needs_s, 10 + 1 + 4 * 12 * 9 * 0.05, 1e-9) << "six pairs of nine steps each";
  EXPECT_FALSE(session::plan_of(*needs_s + 1e-6, 10, 0.05, 4).needs_s);
  EXPECT_EQ(plan.rounds, 1);
  EXPECT_EQ(plan.pairs, 6);
  EXPECT_NEAR(plan.block_run_s, 15 - 10 - 1, 1e-9);
  const auto none_left = session::plan_of(5, 10, 0.05, 4).plan;
  EXPECT_EQ(none_left.rounds, 1);
  EXPECT_GE(none_left.block_run_s, 4 * 9 * 0.05 - 1e-9) << "two pairs all the same";
}

// Steps of 0.17 s: 32 images of a loader that reaches 190 a second.
TEST(SmallerBatch, LetsSixPairsFitTheBudgetOfASlowEmulatedCell) {
  plan::CellSettings settings = plan::settings_of(cell_of({{"batch-size", {"32"}}}));
  ASSERT_TRUE(session::plan_of(70, 12, 0.17, 6).needs_s);
  const auto batch = session::smaller_batch(settings, 70, 12, 0.17, 6);
  ASSERT_TRUE(batch);
  EXPECT_EQ(*batch, 16);
  EXPECT_FALSE(session::plan_of(70, 12, 0.17 * *batch / 32, 6).needs_s);
  EXPECT_FALSE(session::smaller_batch(settings, 7200, 12, 0.17, 6)) << "its own fits";
  EXPECT_FALSE(session::smaller_batch(settings, 13, 12, 0.17, 6)) << "none fits";
  settings.device_kind = "cuda";
  EXPECT_FALSE(session::smaller_batch(settings, 70, 12, 0.17, 6)) << "its steps would be others";
  settings.device_kind = "emulated";
  settings.emulation.host_cpu_ms = 40;
  EXPECT_FALSE(session::smaller_batch(settings, 70, 12, 0.17, 6)) << "launching would take a share";
  settings.emulation.host_cpu_ms = -1;
  settings.gpus = 2;
  settings.emulation.all_reduce_ms = 5;
  EXPECT_FALSE(session::smaller_batch(settings, 70, 12, 0.17, 6)) << "and so would averaging";
  settings.gpus = 1;
  ASSERT_TRUE(session::smaller_batch(settings, 70, 12, 0.17, 6));
  settings.device_argument = "trace=steps.trace";
  EXPECT_FALSE(session::smaller_batch(settings, 70, 12, 0.17, 6))
      << "the steps were recorded with this batch";
}

// Whether its rates are those of the cell's batch is measured then.
TEST(SmallerBatch, OfACpuIsAQuarterAtLeast) {
  plan::CellSettings settings = plan::settings_of(cell_of({{"batch-size", {"32"}}}));
  settings.device_kind = "cpu";
  EXPECT_EQ(session::smaller_batch(settings, 70, 12, 0.17, 6), 16);
  EXPECT_FALSE(session::smaller_batch(settings, 70, 12, 0.17 * 4, 6)) << "an eighth";
  settings.device_kind = "emulated";
  ASSERT_EQ(session::smaller_batch(settings, 70, 12, 0.17 * 4, 6), 4);
  settings.device_kind = "cpu";
  settings.gpus = 2;
  EXPECT_FALSE(session::smaller_batch(settings, 70, 12, 0.17, 6)) << "averaging takes its share";
}

TEST(SmallerBatch, HoldsTheReadsOfALoaderThatDrainsAtItsEndTwice) {
  const auto batch = [](const char* loader) {
    const plan::CellSettings settings = plan::settings_of(cell_of(
        {{"loader", {loader}}, {"batch-size", {"32"}}, {"io", {"uring"}}, {"io-depth", {"16"}}}));
    return session::smaller_batch(settings, 70, 12, 0.17, 6).value_or(0);
  };
  EXPECT_EQ(batch("pool"), 16);
  EXPECT_EQ(batch("batch"), 0);
}

// Two blocks of nine steps of 3 s each.
TEST(PlanOf, ABudgetMayHoldNoPair) {
  const session::DelayPlan long_steps = session::plan_of(70, 30, 3, 4);
  EXPECT_TRUE(long_steps.holds_no_pair);
  EXPECT_NEAR(long_steps.pair_s, 2 * 9 * 3, 1e-9);
  EXPECT_FALSE(session::plan_of(15, 10, 0.05, 4).holds_no_pair) << "fewer than six";
  EXPECT_FALSE(session::plan_of(2, 5, 0.01, 4).holds_no_pair) << "a little beyond it";
}

TEST(PlanOf, BlocksAreNoLongerThanThreeSeconds) {
  const auto plan = session::plan_of(7200, 5, 0.01, 4).plan;
  EXPECT_EQ(plan.rounds, 6);
  EXPECT_NEAR(1.2 * plan.blocks.seconds, 3, 1e-9);
}

TEST(PlanOf, StepsOfHalfASecondHaveBlocksOfNineSteps) {
  EXPECT_GE(1.2 * session::plan_of(7200, 60, 0.5, 4).plan.blocks.seconds, 9 * 0.5 - 1e-9);
}

}  // namespace
}  // namespace feedrate::tests
