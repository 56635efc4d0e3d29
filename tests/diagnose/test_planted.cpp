// The test that guards every number: service times are planted in stages and in an emulated device, and
// what is reported must match the closed form within 2 %.
#include <gtest/gtest.h>

#include "diagnose/ladder.h"
#include "diagnose/verdict.h"
#include "experiment/environment.h"
#include "experiment/record.h"
#include "tests/support.h"

namespace feedrate {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr double kTolerance = 0.02;

class Planted : public testing::Test {
 protected:
  Planted() {
    // Tiny raw pictures: their real work is microseconds beside milliseconds that are planted.
    make_dataset(folder_.path(), {"raw"}, {8, 8}, 256);
    options_.data = folder_.path();
    options_.plant = true;
    options_.limits = {.warmup_seconds = 0.5, .max_warmup_seconds = 10, .min_steps = 20, .min_seconds = 2, .max_seconds = 60};
    plant(Stage::read).ns = 2 * kMs;
    plant(Stage::decode).ns = 4 * kMs;
    plant(Stage::augment).ns = 1 * kMs;
    plant(Stage::collate).ns = 1 * kMs;  // 8 ms in all
  }
  PlantedStage& plant(Stage stage) { return options_.planted[static_cast<std::size_t>(stage)]; }

  nlohmann::ordered_json measure(AxisValues values) {
    values.insert({"data", {"raw"}});
    values.insert({"batch-size", {"4"}});  // where none is given
    values.insert({"image-size", {"8"}});
    values.insert({"input-size", {"8"}});
    AcceleratorRegistry registry;
    CellRunner runner(options_, registry);
    const CellResult result = runner.run(expand(values).at(0), {}, {});
    EXPECT_EQ(result.status, Status::ok) << result.error;
    auto record = make_record(result, {}, options_, {});
    add_verdict(record);
    return record;
  }
  static void expect_rate(const nlohmann::ordered_json& record, double expected) {
    EXPECT_NEAR(record["imgs_per_s"], expected, kTolerance * expected);
  }
  static double capacity(const nlohmann::ordered_json& record, const std::string& resource) {
    for (const auto& c : record["capacities"]) {
      if (c["resource"] == resource) return c["imgs_per_s"];
    }
    return 0;
  }

  TemporaryFolder folder_;
  RunOptions options_;
};

TEST_F(Planted, LoaderBound) {
  for (const char* loader : {"pool", "batch"}) {
    const auto record = measure({{"device", {"emulated:1000"}}, {"workers", {"2"}}, {"loader", {loader}}});
    expect_rate(record, 2 / 0.008);
    EXPECT_NEAR(capacity(record, "loader"), 250, kTolerance * 250);
    EXPECT_NEAR(capacity(record, "device"), 1000, kTolerance * 1000);
    EXPECT_NEAR(record["device_idle_fraction"], 0.75, kTolerance);
    EXPECT_EQ(record["capacities"][0]["resource"], "loader");
    EXPECT_EQ(record["capacities"][0]["largest_stage"], "decode");
    EXPECT_NEAR(record["capacities"][0]["largest_share"], 0.5, kTolerance);
  }
}

TEST_F(Planted, DeviceBound) {
  const auto record = measure({{"device", {"emulated:200"}}, {"workers", {"2"}}});
  expect_rate(record, 200);
  EXPECT_NEAR(record["device_idle_fraction"], 0, kTolerance);
  EXPECT_EQ(record["capacities"][0]["resource"], "device");
  EXPECT_NEAR(capacity(record, "loader"), 250, kTolerance * 250);
}

TEST_F(Planted, TheTrainingThreadLoads) {
  // workers = 0: nothing overlaps but the step before. Each step is 4 x 8 ms of loading; the 10 ms of
  // the device's step hide behind it.
  const auto record = measure({{"device", {"emulated:400"}}, {"workers", {"0"}}});
  expect_rate(record, 4 / 0.032);
}

TEST_F(Planted, SpikesEveryN) {
  plant(Stage::read).every = 8;
  plant(Stage::read).spike_ns = 24 * kMs;  // mean service 8 + 24/8 = 11 ms
  const auto pool = measure({{"device", {"emulated:1000"}}, {"workers", {"2"}}, {"loader", {"pool"}}});
  expect_rate(pool, 2 / 0.011);
  EXPECT_NEAR(capacity(pool, "loader"), 2 / 0.011, kTolerance * 2 / 0.011);
  EXPECT_EQ(pool["capacities"][0]["largest_stage"], "read");
  // Every second batch of four holds the spike, so one of the two workers gets all of them: its batches
  // take 4 x 8 + 24 ms, and delivery in order makes the other worker wait.
  const auto batch = measure({{"device", {"emulated:1000"}}, {"workers", {"2"}}, {"loader", {"batch"}}});
  expect_rate(batch, 2 * 4 / 0.056);
}

// A median step would be wrong here: three of four steps wait for nothing.
TEST_F(Planted, RareLongSpikesAreInTheThroughput) {
  options_.limits.min_seconds = 6;
  plant(Stage::decode).every = 64;
  plant(Stage::decode).spike_ns = 512 * kMs;  // mean service 8 + 512/64 = 16 ms
  const auto record = measure({{"device", {"emulated:1000"}}, {"workers", {"1"}}});
  // The window may cut one of its about 6 periods: compare with the spikes that it holds.
  const double images = record["images"], spikes = std::round(images / 64);
  EXPECT_NEAR(record["window_s"], images * 0.008 + spikes * 0.512, 0.512 + 0.02 * record["window_s"].get<double>());
  EXPECT_LT(record["step_ms"]["median"], 0.7 * record["step_ms"]["mean"].get<double>());
}

TEST_F(Planted, AFullQueueAtTheStart) {
  for (auto& stage : options_.planted) stage.free_first = 64;
  // 16 batches of 4 are ready at once and would keep a device of 275 images/s busy for 2.6 s.
  const auto record = measure({{"device", {"emulated:275"}}, {"workers", {"2"}}, {"prefetch", {"16"}}});
  expect_rate(record, 250);
}

TEST_F(Planted, FourGpus) {
  const auto slow = measure({{"device", {"emulated:1000"}}, {"workers", {"1"}}, {"gpus", {"4"}}});
  expect_rate(slow, 4 / 0.008);
  ASSERT_EQ(slow["ranks"].size(), 4u);
  for (const auto& rank : slow["ranks"]) EXPECT_NEAR(rank["imgs_per_s"], 125, kTolerance * 125) << "a fair share";
  EXPECT_NEAR(capacity(slow, "loader"), 500, kTolerance * 500);
  EXPECT_NEAR(capacity(slow, "device"), 4000, kTolerance * 4000);
  const auto fast = measure({{"device", {"emulated:100"}}, {"workers", {"1"}}, {"gpus", {"4"}}});
  expect_rate(fast, 400);
}

// Nothing planted but the devices' pace: eight of them, fed by real tensors far faster than they ask for.
TEST_F(Planted, EightGpusReachEightTimesOne) {
  options_.plant = false;
  const auto record = measure({{"device", {"emulated:500"}}, {"workers", {"1"}}, {"gpus", {"8"}}, {"batch-size", {"32"}}});
  EXPECT_NEAR(record["imgs_per_s"], 4000, 0.01 * 4000);
  EXPECT_GT(capacity(record, "loader"), 2 * 4000) << "or the machine was too slow to tell";
}

TEST_F(Planted, NothingPlantedMattersBehindACacheOfBatches) {
  for (const char* cache : {"host", "device"}) {
    expect_rate(measure({{"device", {"emulated:1000"}}, {"cache", {cache}}}), 1000);
  }
}

TEST_F(Planted, Ladder) {
  const auto rate = [&](const char* data, const char* cache) {
    return measure({{"device", {"emulated:4000"}}, {"workers", {"2"}}, {"data", {data}}, {"cache", {cache}}})["imgs_per_s"].get<double>();
  };
  const auto rungs = ladder({{"synthetic", rate("synthetic", "none")}, {"device", rate("raw", "device")},
                             {"host", rate("raw", "host")}, {"sample", rate("raw", "sample")},
                             {"encoded", rate("raw", "encoded")}, {"warm", rate("raw", "none")}}, 4);
  // ms per step of 4 images by 2 workers; what is faster than the device's 1 ms hides behind it.
  const std::pair<const char*, double> expected[] = {
      {"normalise", 0}, {"copy", 0}, {"collate", 4 * 1 / 2.0 - 1}, {"decode+augment", 4 * 5 / 2.0}, {"read", 4 * 2 / 2.0}};
  ASSERT_EQ(rungs.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(rungs[i].stage, expected[i].first);
    EXPECT_NEAR(rungs[i].ms_per_step, expected[i].second, kTolerance * 16) << rungs[i].stage;  // of the whole step
  }
}

}  // namespace
}  // namespace feedrate
