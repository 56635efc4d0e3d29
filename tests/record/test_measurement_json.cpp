#include <gtest/gtest.h>

#include "device/registry.h"
#include "record/environment.h"
#include "tests/record/made_up_ranks.h"
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
  const auto record = json_of(result, options, diagnose::Ceiling{4000.0, {}},
                              record::capture_environment(folder.path()));
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
