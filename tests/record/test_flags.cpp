#include <gtest/gtest.h>

#include <set>

#include "measure/nvml.h"
#include "tests/record/made_up_ranks.h"

namespace feedrate::tests {
namespace {

std::string severity_of(const nlohmann::ordered_json& record, const char* flag) {
  for (const auto& f : record["flags"]) {
    if (f["name"] == flag) return f["severity"];
  }
  return "";
}

TEST(Flags, ShowAGpuThatWasHeldBack) {
  run::RankResult hot = rank_of(0), calm = rank_of(0);
  for (int second = 0; second < 4; ++second) {
    hot.gpu.push_back({(10 + second) * kMs,
                       {.utilisation_percent = 99,
                        .sm_mhz = 1200,
                        .temperature_c = 91,
                        .throttle_reasons = second == 0 ? measure::kThrottleHot : 0}});
    calm.gpu.push_back(
        {(10 + second) * kMs, {.utilisation_percent = 98, .sm_mhz = 1980, .temperature_c = 50}});
  }
  const auto record = record_of({calm, hot});
  const auto& gpu = record["ranks"][1]["gpu"];
  EXPECT_EQ(gpu["throttled"], "hardware thermal slowdown");
  EXPECT_EQ(gpu["sm_mhz"].size(), 4u);
  EXPECT_EQ(gpu["temperature_c"][0], 91);
  EXPECT_EQ(gpu["power_w"][0], -1) << "what it does not say";
  EXPECT_EQ(record["ranks"][0]["gpu"]["throttled"], "");
  std::size_t found = 0;
  for (const auto& flag : record["flags"]) {
    if (flag["name"] != "throttled") continue;
    ++found;
    EXPECT_EQ(flag["severity"], "serious");
    EXPECT_NE(flag["reason"].get<std::string>().find("rank 1 "), std::string::npos) << flag;
    EXPECT_NE(flag["reason"].get<std::string>().find("25.0 %"), std::string::npos) << flag;
  }
  EXPECT_EQ(found, 1u);
}

TEST(Flags, TellWhatTheMachineDidMeanwhile) {
  run::RankResult rank = rank_of(0);
  rank.host.psi_memory_some = 0.02;
  rank.host.cpu_other_processes = 0.2;
  for (const double mhz : {3000.0, 3000.0, 2600.0, 2400.0, 2400.0, 2400.0})
    rank.host_series.push_back({20 * kMs, {.cpu_mhz = mhz}});
  auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "memory_pressure"), "warning");
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "warning");
  EXPECT_EQ(severity_of(record, "clock_changed"), "warning");
  EXPECT_EQ(record["monitors"]["series"]["cpu_mhz"].size(), 6u);
  rank = rank_of(0);
  for (int second = 0; second < 6; ++second) {
    rank.host_series.push_back({20 * kMs, {}});
    rank.gpu.push_back({20 * kMs, {.sm_mhz = second < 3 ? 1980 : 1700}});
  }
  record = record_of({rank});
  EXPECT_EQ(severity_of(record, "memory_pressure"), "") << "unknown pressure raises no flag";
  EXPECT_EQ(severity_of(record, "clock_changed"), "warning") << "the GPU's";
}

TEST(Flags, ARunOfItsStockOrOfHalfItsLengthIsNoRate) {
  run::RankResult rank = rank_of(0);
  rank.drawn_from_queue = -0.06;
  EXPECT_EQ(severity_of(record_of({rank}), "queue_not_at_rest"), "serious");
  run::RunOptions options;
  options.limits.min_steps = 9, options.limits.min_seconds = 0.09;
  const auto of = [&] { return severity_of(record_of({rank_of(0)}, options), "short_window"); };
  EXPECT_EQ(of(), "");
  options.limits.min_steps = 18;
  EXPECT_EQ(of(), "warning");
  options.limits.min_steps = 19;
  EXPECT_EQ(of(), "serious");
  options.limits.min_steps = 9, options.limits.min_seconds = 0.2;
  EXPECT_EQ(of(), "serious");
}

TEST(Flags, NeighboursOnTheRunsOwnCpusCount) {
  run::RankResult rank = rank_of(0);
  rank.host.cpu_other_processes = 0.06;
  EXPECT_EQ(severity_of(record_of({rank}), "noisy_neighbour"), "");
  rank.host.usable_cpus_other_processes = 0.9;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "warning");
  EXPECT_EQ(record["monitors"]["usable_cpus_other_processes"], 0.9);
}

TEST(Flags, AQuotaThatStoppedTheRunIsSaid) {
  run::RankResult rank = rank_of(0);
  rank.host.cpu_quota_stopped = 0.01;
  EXPECT_EQ(severity_of(record_of({rank}), "cpu_quota"), "");
  rank.host.cpu_quota_stopped = 0.3;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "cpu_quota"), "warning");
  EXPECT_EQ(record["monitors"]["cpu_quota_stopped"], 0.3);
}

TEST(Flags, WarmIsWhatDidNotComeFromStorage) {
  run::RankResult rank = rank_of(0);
  rank.stages[measure::Stage::read].bytes = 1000;
  const auto of = [&](double fetched) {
    rank.host.storage_read_bytes = fetched;
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"page-cache", {"warm"}}};
    return severity_of(json_of(result_of(axes, {.ranks = {rank}, .page_cache_before = 1})),
                       "page_cache");
  };
  EXPECT_EQ(of(0), "");
  EXPECT_EQ(of(-1), "") << "cannot be told";
  EXPECT_EQ(of(40), "");
  EXPECT_EQ(of(60), "serious");
}

TEST(Flags, SeriousOnesMakeARecordInvalid) {
  run::RankResult rank = rank_of(0);
  rank.drawn_from_queue = 0.04;
  const auto warned = record_of({rank});
  EXPECT_EQ(severity_of(warned, "queue_not_at_rest"), "warning");
  EXPECT_TRUE(warned["valid"] == (severity_of(warned, "harness_bound") != "serious"));
  rank.gpu.push_back({20 * kMs, {.throttle_reasons = measure::kThrottleHot}});
  EXPECT_EQ(record_of({rank})["valid"], false);
}

TEST(Flags, AColdRunWhoseBytesCameFromACacheIsInvalid) {
  const auto cold = [](double fetched) {
    run::RankResult rank = rank_of(0);
    rank.stages[measure::Stage::read] = {1, 1, 8, 1000};
    rank.host.storage_read_bytes = fetched;
    const plan::AxisValues axes = {{"device", {"emulated:1000"}},
                                   {"data", {"jpeg"}},
                                   {"batch-size", {"8"}},
                                   {"page-cache", {"cold"}}};
    return json_of(result_of(axes, {.ranks = {rank}, .page_cache_before = 0}));
  };
  EXPECT_EQ(severity_of(cold(500), "page_cache"), "serious");
  EXPECT_EQ(severity_of(cold(4096), "page_cache"), "");
  EXPECT_EQ(severity_of(cold(-1), "page_cache"), "") << "cannot be told";
  EXPECT_EQ(severity_of(cold(4096), "client_cold"), "note");
}

TEST(Flags, AClosingCeilingThatMovedIsADrift) {
  const auto severity = [](double opening) {
    run::CellResult result =
        result_of({{"device", {"emulated:1000"}}, {"batch-size", {"8"}}}, {.ranks = {rank_of(0)}});
    const plan::Cell cell = result.cell;
    const record::Record record = record::make_record(
        std::move(result), {{cell, plan::Role::closing_ceiling}, 0, opening, {}}, {});
    const auto json = record::RecordWriter({}, {}).json_of(record);
    EXPECT_FALSE(json.contains("ceiling_imgs_per_s")) << "a ceiling has none";
    return severity_of(json, "ceiling_drifted");
  };
  EXPECT_EQ(severity(800), "") << "it reaches 800 images/s";
  EXPECT_EQ(severity(780), "") << "2.6 % faster";
  EXPECT_EQ(severity(770), "warning") << "3.9 % faster";
  EXPECT_EQ(severity(840), "warning") << "4.8 % slower";
}

// What a reader of axes.json takes a rule for.
TEST(Flags, RulesHaveIdsOfTheirOwn) {
  std::set<std::string_view> ids;
  for (const record::FlagRule& rule : record::flag_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.remedy.empty()) << rule.id;
    EXPECT_TRUE(!rule.serious || rule.severity != record::Severity::serious) << rule.id;
  }
}

}  // namespace
}  // namespace feedrate::tests
