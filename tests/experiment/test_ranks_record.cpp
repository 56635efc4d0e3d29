#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiment/rank_texts.h"
#include "experiment/record.h"

namespace feedrate {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// A rank whose ten steps take 10 ms, of which it waits `sync_ms` for the others.
RankResult rank_of(std::int64_t sync_ms) {
  RankResult rank;
  for (std::int64_t i = 0; i < 10; ++i) {
    rank.steps.push_back({i * 10 * kMs, (i + 1) * 10 * kMs, std::numeric_limits<double>::quiet_NaN(), sync_ms * kMs});
    rank.data_wait_ms.push_back(0.5);
  }
  rank.first = 1, rank.last = 10, rank.steady = true;
  rank.device = {.name = "a GPU", .kind = "cuda", .pci_address = "0000:01:00.0"};
  rank.place = {.host = "node1", .pid = 4711, .cpus = {0, 1, 2, 5}};
  return rank;
}

nlohmann::ordered_json record_of(std::vector<RankResult> ranks) {
  CellResult result{.cell = expand({{"device", {"emulated:1000"}}, {"gpus", {std::to_string(ranks.size())}}, {"batch-size", {"8"}}}).at(0),
                    .status = Status::ok};
  result.ranks = std::move(ranks);
  return make_record(result, {}, {}, {});
}

TEST(RanksRecord, NamesTheStraggler) {
  const auto record = record_of({rank_of(4), rank_of(1), rank_of(5), rank_of(4)});
  EXPECT_EQ(record["straggler"]["rank"], 1);
  EXPECT_NEAR(record["straggler"]["others_wait_ms"], 3, 1e-9);
  EXPECT_TRUE(record_of({rank_of(4), rank_of(4)})["straggler"].is_null());
  EXPECT_TRUE(record_of({rank_of(0)})["straggler"].is_null());
}

TEST(RanksRecord, TellsOfEachRank) {
  const auto ranks = record_of({rank_of(4), rank_of(3)})["ranks"];
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[1]["rank"], 1);
  EXPECT_NEAR(ranks[1]["imgs_per_s"], 800, 1e-6);
  EXPECT_NEAR(ranks[1]["sync_ms_mean"], 3, 1e-9);
  EXPECT_EQ(ranks[1]["host"], "node1");
  EXPECT_EQ(ranks[1]["cpus"], "0-2,5");
  EXPECT_TRUE(ranks[1]["gpu"].is_null());
}

TEST(RanksRecord, FlagsAGpuThatWasHeldBack) {
  RankResult hot = rank_of(0), calm = rank_of(0);
  for (int second = 0; second < 4; ++second) {
    hot.gpu.push_back({(10 + second) * kMs, {.utilisation_percent = 99, .sm_mhz = 1200, .temperature_c = 91, .throttle_reasons = second == 0 ? kThrottleHot : 0}});
    calm.gpu.push_back({(10 + second) * kMs, {.utilisation_percent = 98, .sm_mhz = 1980, .temperature_c = 50}});
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

std::string severity_of(const nlohmann::ordered_json& record, const char* flag) {
  for (const auto& f : record["flags"]) {
    if (f["name"] == flag) return f["severity"];
  }
  return "";
}

TEST(Flags, TellWhatTheMachineDidMeanwhile) {
  RankResult rank = rank_of(0);
  rank.host.psi_memory_some = 0.02;
  rank.host.cpu_other_processes = 0.2;
  for (const double mhz : {3000.0, 3000.0, 2600.0, 2400.0, 2400.0, 2400.0}) rank.host_series.push_back({20 * kMs, {.cpu_mhz = mhz}});
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
  EXPECT_EQ(severity_of(record, "memory_pressure"), "") << "what cannot be told is no fault";
  EXPECT_EQ(severity_of(record, "clock_changed"), "warning") << "the GPU's";
}

TEST(Flags, ARunOfItsStockOrOfHalfItsLengthIsNoRate) {
  RankResult rank = rank_of(0);
  rank.drawn_from_queue = -0.06;
  EXPECT_EQ(severity_of(record_of({rank}), "queue_not_at_rest"), "serious");
  RunOptions options;
  options.limits.min_steps = 9, options.limits.min_seconds = 0.09;
  const auto of = [&] {
    CellResult result{.cell = expand({{"device", {"emulated:1000"}}, {"batch-size", {"8"}}}).at(0), .status = Status::ok, .ranks = {rank_of(0)}};
    return severity_of(make_record(result, {}, options, {}), "short_window");
  };
  EXPECT_EQ(of(), "");
  options.limits.min_steps = 18;
  EXPECT_EQ(of(), "warning");
  options.limits.min_steps = 19;
  EXPECT_EQ(of(), "serious");
  options.limits.min_steps = 9, options.limits.min_seconds = 0.2;
  EXPECT_EQ(of(), "serious");
}

TEST(Flags, NeighboursOnTheRunsOwnCpusCount) {
  RankResult rank = rank_of(0);
  rank.host.cpu_other_processes = 0.06;
  EXPECT_EQ(severity_of(record_of({rank}), "noisy_neighbour"), "");
  rank.host.usable_cpus_other_processes = 0.9;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "noisy_neighbour"), "warning");
  EXPECT_EQ(record["monitors"]["usable_cpus_other_processes"], 0.9);
}

TEST(Flags, AQuotaThatStoppedTheRunIsSaid) {
  RankResult rank = rank_of(0);
  rank.host.cpu_quota_stopped = 0.01;
  EXPECT_EQ(severity_of(record_of({rank}), "cpu_quota"), "");
  rank.host.cpu_quota_stopped = 0.3;
  const auto record = record_of({rank});
  EXPECT_EQ(severity_of(record, "cpu_quota"), "warning");
  EXPECT_EQ(record["monitors"]["cpu_quota_stopped"], 0.3);
}

TEST(Flags, WarmIsWhatDidNotComeFromStorage) {
  RankResult rank = rank_of(0);
  rank.stages[Stage::read].bytes = 1000;
  const auto of = [&](double fetched) {
    rank.host.storage_read_bytes = fetched;
    CellResult result{.cell = expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"page-cache", {"warm"}}}).at(0), .status = Status::ok, .ranks = {rank},
                      .page_cache_before = 1};
    return severity_of(make_record(result, {}, {}, {}), "page_cache");
  };
  EXPECT_EQ(of(0), "");
  EXPECT_EQ(of(-1), "") << "cannot be told";
  EXPECT_EQ(of(40), "");
  EXPECT_EQ(of(60), "serious");
}

TEST(Flags, SeriousOnesMakeARecordInvalid) {
  RankResult rank = rank_of(0);
  rank.drawn_from_queue = 0.04;
  const auto warned = record_of({rank});
  EXPECT_EQ(severity_of(warned, "queue_not_at_rest"), "warning");
  EXPECT_TRUE(warned["valid"] == (severity_of(warned, "harness_bound") != "serious"));
  rank.gpu.push_back({20 * kMs, {.throttle_reasons = kThrottleHot}});
  EXPECT_EQ(record_of({rank})["valid"], false);
}

TEST(Flags, AColdRunWhoseBytesCameFromACacheIsInvalid) {
  const auto cold = [](double fetched) {
    RankResult rank = rank_of(0);
    rank.stages[Stage::read] = {1, 1, 8, 1000};
    rank.host.storage_read_bytes = fetched;
    CellResult result{.cell = expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}, {"page-cache", {"cold"}}}).at(0), .status = Status::ok};
    result.page_cache_before = 0;
    result.ranks = {rank};
    return make_record(result, {}, {}, {});
  };
  EXPECT_EQ(severity_of(cold(500), "page_cache"), "serious");
  EXPECT_EQ(severity_of(cold(4096), "page_cache"), "");
  EXPECT_EQ(severity_of(cold(-1), "page_cache"), "") << "cannot be told";
  EXPECT_EQ(severity_of(cold(4096), "client_cold"), "note");
}

TEST(RankTexts, BringBackWhatWasSent) {
  RankResult rank = rank_of(2);
  rank.drawn_from_queue = 0.1 + 0.2;
  rank.stages[Stage::decode] = {1, 2, 3, 4};
  rank.arrivals = {.batches = 5, .busy_ns = 6, .decoded = {7, 8, 9}};
  rank.gpu.push_back({1, {.power_w = 3.5, .throttle_reasons = ~std::uint64_t{0}}});
  rank.gpu_problem = "none";
  rank.host_series.push_back({3, {.cpu_busy = 0.25, .cpu_mhz = 2500}});
  const RankAnswer answer{.ranks = {rank, rank_of(3)}, .bad = {2, "a \"bad\" file\n"}, .page_cache_before = 0.5};
  const RankAnswer answer_back = answer_from(to_text(answer));
  EXPECT_EQ(to_text(answer_back), to_text(answer));
  EXPECT_EQ(answer_back.ranks.size(), 2u);
  EXPECT_EQ(answer_back.bad.first, answer.bad.first);
  EXPECT_EQ(answer_back.page_cache_before, 0.5);
  const RankResult& back = answer_back.ranks[0];
  EXPECT_EQ(back.steps.size(), 10u);
  EXPECT_TRUE(std::isnan(back.steps[3].loss));
  EXPECT_EQ(back.steps[3].sync_ns, 2 * kMs);
  EXPECT_EQ(back.drawn_from_queue, rank.drawn_from_queue) << "to the last bit";
  EXPECT_EQ(back.stages[Stage::decode].bytes, 4);
  EXPECT_EQ(back.arrivals.decoded.host, 9);
  EXPECT_EQ(back.host_series[0].use.cpu_mhz, 2500);
  EXPECT_EQ(back.gpu[0].state.throttle_reasons, ~std::uint64_t{0});
  EXPECT_EQ(back.place.cpus, rank.place.cpus);

  RankOrder order{.cell = expand({{"device", {"emulated:1000"}}, {"gpus", {"2"}}}).at(0), .manifest = "abc"};
  order.options = {.data = "/some where", .limits = {.min_steps = 7, .min_seconds = 0.1}, .seed = ~std::uint64_t{0}, .plant = true};
  order.options.planted[1].ns = 42;
  const RankOrder order_back = order_from(to_text(order));
  EXPECT_EQ(to_text(order_back), to_text(order));
  EXPECT_EQ(order_back.cell.id(), order.cell.id());
  EXPECT_EQ(order_back.options.seed, ~std::uint64_t{0});
  EXPECT_EQ(order_back.options.planted[1].ns, 42);
}

}  // namespace
}  // namespace feedrate
