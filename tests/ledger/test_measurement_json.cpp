#include <gtest/gtest.h>

#include "device/registry.h"
#include "machine/environment.h"
#include "tests/ledger/made_up_ranks.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

TEST(MeasurementJson, NamesTheStraggler) {
  const auto record = record_of({rank_of(4), rank_of(1), rank_of(5), rank_of(4)});
  EXPECT_EQ(record["straggler"]["rank"], 1);
  EXPECT_NEAR(record["straggler"]["others_wait_ms"], 3, 1e-9);
  EXPECT_TRUE(record_of({rank_of(4), rank_of(4)})["straggler"].is_null());
  EXPECT_TRUE(record_of({rank_of(0)})["straggler"].is_null());
}

TEST(MeasurementJson, TellsOfEachRank) {
  const auto ranks = record_of({rank_of(4), rank_of(3)})["ranks"];
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[1]["rank"], 1);
  EXPECT_NEAR(ranks[1]["imgs_per_s"], 800, 1e-6);
  EXPECT_NEAR(ranks[1]["sync_ms_mean"], 3, 1e-9);
  EXPECT_EQ(ranks[1]["host"], "node1");
  EXPECT_EQ(ranks[1]["cpus"], "0-2,5");
  EXPECT_TRUE(ranks[1]["gpu"].is_null());
}

TEST(MeasurementJson, TellsOfTheProcesses) {
  run::RankResult one = rank_of(4), other = rank_of(3);
  one.place = {.host = "node1", .pid = 7, .cpus = {}};
  other.place = {.host = "node1", .pid = 8, .cpus = {}};
  one.host.process_cpu_s = 1.5;
  const auto monitors = record_of({one, other})["monitors"];
  EXPECT_EQ(monitors["process_cpu_s"], 1.5) << "the first rank's";
  EXPECT_EQ(monitors["processes"], 2);
  one.host.process_cpu_s = -1;
  const auto unknown = record_of({one, one})["monitors"];
  EXPECT_TRUE(unknown["process_cpu_s"].is_null());
  EXPECT_EQ(unknown["processes"], 1) << "threads of one";
}

TEST(MeasurementJson, ReadsThatWereSeenLateCountAndHideTheLongest) {
  run::RankResult rank = rank_of(0);
  rank.latencies.reads.counts[77] = 480;
  const auto known = record_of({rank})["io"];
  EXPECT_EQ(known["seen_late"], 0);
  EXPECT_EQ(known["latency_us"]["max"], 0.077);
  rank.latencies.seen_late = 20;
  const auto io = record_of({rank, rank})["io"];
  EXPECT_EQ(io["reads"], 1000);
  EXPECT_EQ(io["seen_late"], 40);
  EXPECT_EQ(io["latency_us"]["p90"], 0.077);
  for (const char* percentile : {"p99", "p999", "max"})
    EXPECT_TRUE(io["latency_us"][percentile].is_null()) << percentile;
}

TEST(MeasurementJson, TellsWhatWasReadBelowTheFiles) {
  run::RankResult rank = rank_of(0);
  EXPECT_TRUE(record_of({rank})["monitors"]["storage_counters"].is_null());
  rank.storage_counters = {{"xfs.read", -1, 7}, {"vda1", 0, 4096}};
  const auto counters = record_of({rank, rank_of(0)})["monitors"]["storage_counters"];
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0]["name"], "xfs.read");
  EXPECT_TRUE(counters[0]["depth"].is_null());
  EXPECT_EQ(counters[1]["depth"], 0);
  EXPECT_EQ(counters[1]["read_bytes"], 4096);
}

TEST(MeasurementJson, TellsHowThePageCacheWasMade) {
  const auto of = [](run::PageCache cache) {
    const plan::AxisValues axes = {
        {"device", {"emulated:1000"}}, {"data", {"jpeg"}}, {"batch-size", {"8"}}};
    run::CellResult result =
        result_of(axes, {.ranks = {rank_of(0)}, .page_cache = std::move(cache)});
    result.dataset = std::make_shared<storage::DatasetVariant>();
    return json_of(std::move(result))["dataset"];
  };
  const auto none = of({});
  for (const char* field : {"page_cache_method", "page_cache_scope", "page_cache_look",
                            "page_cache_backing_before", "page_cache_backing_after"})
    EXPECT_TRUE(none.at(field).is_null()) << field;
  const auto cold = of({.state = "cold",
                        .before = 0,
                        .look = {"cachestat", 60, 64, 2},
                        .method = "drop_caches",
                        .scope = "client",
                        .loops = "loop0",
                        .loops_before = -1,
                        .loops_after = 0.5,
                        .memory_bytes = 1000});
  EXPECT_EQ(cold["page_cache_method"], "drop_caches");
  EXPECT_EQ(cold["page_cache_scope"], "client");
  EXPECT_EQ(cold["page_cache_look"]["by"], "cachestat");
  EXPECT_EQ(cold["page_cache_look"]["files"], 60);
  EXPECT_EQ(cold["page_cache_look"]["of"], 64);
  EXPECT_EQ(cold["page_cache_look"]["unwritten_pages"], 2);
  EXPECT_EQ(cold["page_cache_backing_before"], -1) << "a loop device, and nobody may look";
  EXPECT_EQ(cold["page_cache_backing_after"], 0.5);
  EXPECT_EQ(cold["memory_bytes"], 1000);
}

TEST(MeasurementJson, AgreesWithItself) {
  const TemporaryFolder folder;
  make_dataset(folder.path(), {"jpeg"}, {32, 32}, 64);
  run::RunOptions options{.data = folder.path()};
  options.limits = {.warmup_seconds = 0.1,
                    .max_warmup_seconds = 2,
                    .min_steps = 20,
                    .min_seconds = 0.3,
                    .max_seconds = 10};
  device::AcceleratorRegistry registry;
  const plan::Cell cell = plan::expand({{"device", {"emulated:2000"}},
                                        {"data", {"jpeg"}},
                                        {"batch-size", {"4"}},
                                        {"image-size", {"32"}},
                                        {"input-size", {"32"}}})
                              .at(0);
  const run::CellResult result = run::CellRunner(options, registry).run(cell, {}, {});
  const auto record = json_of(result, options, judge::Ceiling{4000.0, {}},
                              machine::capture_environment(folder.path()));
  EXPECT_EQ(record["status"], "ok");
  const double rate = record["imgs_per_s"];
  EXPECT_NEAR(rate, record["images"].get<double>() / record["window_s"].get<double>(), 1e-6 * rate);
  EXPECT_EQ(record["ceiling_imgs_per_s"], 4000.0);
  EXPECT_EQ(record["step_ms"]["raw"].size(), record["steps"]);
  double sum = 0;
  for (const double step : record["step_ms"]["raw"]) sum += step;
  EXPECT_NEAR(sum * 1e-3, record["window_s"].get<double>(), 0.01 * sum * 1e-3);
  EXPECT_EQ(record["flags"][0]["name"], "emulated");
  EXPECT_EQ(record["dataset"]["samples"], 64);
}

TEST(MeasurementJson, AFailedRunHasNoThroughput) {
  run::CellResult result{.cell = plan::expand({{"device", {"emulated:1000"}}}).at(0),
                         .error = "a file: is broken"};
  const auto record = json_of(result);
  EXPECT_EQ(record["status"], "failed");
  EXPECT_TRUE(record["imgs_per_s"].is_null());
  EXPECT_FALSE(record.contains("verdict"));
  EXPECT_EQ(record["valid"], false);
}

}  // namespace
}  // namespace feedrate::tests
