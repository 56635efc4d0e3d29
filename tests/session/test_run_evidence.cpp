#include "session/run_evidence.h"

#include <gtest/gtest.h>

#include "ledger/diagnosis_json.h"
#include "ledger/recorded_measurement.h"
#include "tests/ledger/made_up_results.h"
#include "tests/run/made_up_rank.h"

namespace feedrate::tests {
namespace {

// Two processes of a rank each, which read cold files.
run::CellResult read_cold() {
  run::RankResult one = rank_of(4), other = rank_of(3);
  other.place.pid = one.place.pid + 1;
  one.host.process_cpu_s = 1.5;
  one.stages[measure::Stage::decode] = {30 * kMs, 20 * kMs, 10, 1000};
  one.latencies.reads.counts[measure::latency_bucket(80'000)] = 9;
  one.latencies.opens.counts[measure::latency_bucket(20'000)] = 9;
  run::CellResult result = result_of(
      {{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"gpus", {"2"}}, {"batch-size", {"8"}}},
      {.ranks = {one, other}, .page_cache = {.state = "cold"}});
  result.dataset = std::make_shared<storage::DatasetVariant>();
  return result;
}

judge::RoundEvidence evidence_of(const run::Measurement& m,
                                 const plan::CellSettings& settings = read_cold().settings) {
  judge::RoundEvidence round;
  for (const auto rung : {judge::LadderRung::cold, judge::LadderRung::cpus})
    session::add_run(m, rung, round);
  session::add_own_run(settings, m, {}, round);
  return round;
}

TEST(RunEvidence, CountsTheCpuTimeOfAllProcesses) {
  run::Measurement m = *read_cold().measurement;
  ASSERT_GT(m.window_s * m.cpu_capacity, 0);
  EXPECT_NEAR(session::cpus_busy(m), 3 / (m.window_s * m.cpu_capacity), 1e-9);
  m.machines.front().use.process_cpu_s = -1;
  EXPECT_EQ(session::cpus_busy(m), 0) << "unknown";
  m.machines.clear();
  EXPECT_EQ(session::cpus_busy(m), 0);
}

TEST(RunEvidence, ARecordSaysWhatTheRunItselfSays) {
  const run::CellResult result = read_cold();
  const judge::RoundEvidence round = evidence_of(*result.measurement);
  EXPECT_NEAR(round.open_share, 0.25, 0.01);
  EXPECT_EQ(round.page_cache, "cold");
  EXPECT_NEAR(round.step_cpu_s * static_cast<double>(result.measurement->images), 3 - 0.02, 1e-9)
      << "of two processes, without the loaders";
  EXPECT_GT(round.cpus_busy, 0);
  EXPECT_GT(round.all_reduce_share, 0);

  nlohmann::ordered_json record = json_of(result);
  const auto as_recorded = [&] {
    return ledger::round_json(evidence_of(ledger::measurement_from(record)));
  };
  EXPECT_EQ(as_recorded(), ledger::round_json(round));
  for (auto& rank : record["ranks"]) rank.erase("pid"), rank["host"] = "host";
  EXPECT_EQ(as_recorded(), ledger::round_json(round)) << "anonymised";
}

// 2 GPUs x 1 worker x 4 reads, of which nine took 20 ms and one 60.
TEST(RunEvidence, ReadsInFlightAreACapacityOfTheirOwn) {
  run::CellResult result = read_cold();
  plan::CellSettings settings = result.settings;
  settings.workers = 1, settings.io = "uring-direct", settings.io_depth = 4;
  auto& latencies = result.measurement->latencies;
  latencies = {};
  latencies.reads.counts[measure::latency_bucket(20'000'000)] = 9;
  latencies.reads.counts[measure::latency_bucket(60'000'000)] = 1;
  const auto capacities = [&] { return evidence_of(*result.measurement, settings).capacities; };
  ASSERT_EQ(capacities().size(), 1U);
  EXPECT_EQ(capacities()[0].resource, "reads in flight");
  EXPECT_NEAR(capacities()[0].imgs_per_s, 8 / 24e-3, 4);
  EXPECT_EQ(capacities()[0].largest_stage, "read");
  latencies.seen_late = 11;
  EXPECT_TRUE(capacities().empty()) << "most of them ended unseen";
  latencies.seen_late = 0;
  settings.io = "buffered";
  EXPECT_TRUE(capacities().empty()) << "it reads one after the other";
  settings.io_depth = 1;
  EXPECT_EQ(capacities().size(), 1U);
  latencies.reads = {};
  latencies.reads.counts[measure::latency_bucket(50'000)] = 10;
  EXPECT_TRUE(capacities().empty()) << "from memory";
}

TEST(RunEvidence, WhatIsUnknownIsZero) {
  run::CellResult result = read_cold();
  result.measurement->machines.front().use.process_cpu_s = -1;
  result.measurement->latencies = {};
  for (const auto& m : {*result.measurement, ledger::measurement_from(json_of(result))}) {
    const judge::RoundEvidence round = evidence_of(m);
    EXPECT_EQ(round.step_cpu_s, 0);
    EXPECT_EQ(round.cpus_busy, 0);
    EXPECT_EQ(round.open_share, 0);
  }
}

}  // namespace
}  // namespace feedrate::tests
