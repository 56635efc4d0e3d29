// The test that guards every number: service times are planted in stages and in an emulated device,
// and what is reported must match the closed form within 2 %. It is skipped where others take so
// much of the CPUs that no closed form holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "device/registry.h"
#include "judge/verdict.h"
#include "measure/affinity.h"
#include "measure/clock.h"
#include "plan/expand.h"
#include "run/cell_runner.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kPlantedMs = 1'000'000;
constexpr double kMostTaken = 0.05;  // share of the CPUs
// Instrumented code is slower at everything that the closed forms leave out.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr double kTolerance = 0.05;
#else
constexpr double kTolerance = 0.02;
#endif

class Planted : public testing::Test {
 protected:
  Planted() {
    // Tiny raw pictures: their real work is little beside milliseconds that are planted.
    make_dataset(folder_.path(), {"raw"}, {8, 8}, 256);
    options_.data = folder_.path();
    options_.plant = true;
    options_.limits = {.warmup_seconds = 0.5,
                       .max_warmup_seconds = 10,
                       .min_steps = 20,
                       .min_seconds = 2,
                       .max_seconds = 60};
    plant(measure::Stage::read).ns = 2 * kPlantedMs;
    plant(measure::Stage::decode).ns = 4 * kPlantedMs;
    plant(measure::Stage::augment).ns = 1 * kPlantedMs;
    plant(measure::Stage::collate).ns = 1 * kPlantedMs;  // 8 ms in all
  }
  void TearDown() override {
    if (most_taken_ > kMostTaken && !HasFailure())
      GTEST_SKIP() << "others took " << percent(most_taken_) << " of the CPUs in each of four runs";
  }
  pipeline::PlantedStage& plant(measure::Stage stage) {
    return options_.planted[static_cast<std::size_t>(stage)];
  }

  struct Run {
    run::Measurement measured;
    judge::Verdict verdict;
  };
  // The closed forms hold for CPUs of one's own: of up to four runs, the first that no other
  // machine or process disturbed. Else the one that was disturbed least, whose results may be off
  // by what the others took; above kMostTaken they say nothing.
  Run measure(plan::AxisValues values) {
    values.insert({"data", {"raw"}});
    values.insert({"batch-size", {"4"}});  // where none is given
    values.insert({"image-size", {"8"}});
    values.insert({"input-size", {"8"}});
    device::AcceleratorRegistry registry;
    std::optional<run::CellResult> best;
    for (int tries = 0; tries < 4 && !(best && taken_by_others(*best) <= 0.01); ++tries) {
      run::CellResult result =
          run::CellRunner(options_, registry).run(plan::expand(values).at(0), {}, {});
      EXPECT_EQ(result.status, run::Status::ok) << result.error;
      if (!result.measurement) return {};
      if (!best || taken_by_others(result) < taken_by_others(*best)) best = std::move(result);
    }
    most_taken_ = std::max(most_taken_, taken_by_others(*best));
    tolerance_ = most_taken_ > kMostTaken ? std::numeric_limits<double>::infinity()
                                          : kTolerance + most_taken_;
    return {*best->measurement, judge::verdict_of(best->settings, *best->measurement, {})};
  }
  // Share of the CPUs.
  static double taken_by_others(const run::CellResult& result) {
    const measure::HostUse& host = result.measurement->machines.front().use;
    return host.cpu_steal + std::max(0.0, host.cpu_other_processes - 0.04);  // 4 %: the usual
  }
  void expect_rate(const Run& run, double expected) {
    EXPECT_NEAR(run.measured.imgs_per_s, expected, tolerance_ * expected);
  }
  // Seconds that a worker takes for a sample: what is planted, which sleeps, and its real work. To
  // open a file takes 0.4 ms of CPU time on some machines.
  static double service(const Run& run, double planted) {
    double seconds = planted;
    for (const measure::StageTotal& stage : run.measured.stages.stage)
      if (stage.items > 0)
        seconds += measure::seconds(stage.cpu_ns) / static_cast<double>(stage.items);
    EXPECT_LT(seconds, planted + 0.001 * kTolerance / 0.02)
        << "a loader that works so much is no test of it";
    return seconds;
  }
  static double capacity(const Run& run, const std::string& resource) {
    for (const judge::Capacity& c : run.verdict.capacities) {
      if (c.resource == resource) return c.imgs_per_s;
    }
    return 0;
  }

  TemporaryFolder folder_;
  run::RunOptions options_;
  double most_taken_ = 0;          // in any run of the test
  double tolerance_ = kTolerance;  // of all its runs
};

TEST_F(Planted, LoaderBound) {
  for (const char* loader : {"pool", "batch"}) {
    const Run run =
        measure({{"device", {"emulated:1000"}}, {"workers", {"2"}}, {"loader", {loader}}});
    const double made = 2 / service(run, 0.008);
    expect_rate(run, made);
    EXPECT_NEAR(capacity(run, "loader"), made, tolerance_ * made);
    EXPECT_NEAR(capacity(run, "device"), 1000, tolerance_ * 1000);
    EXPECT_NEAR(run.measured.device_idle_fraction, 1 - made / 1000, tolerance_);
    EXPECT_EQ(run.verdict.capacities.at(0).resource, "loader");
    EXPECT_EQ(run.verdict.capacities.at(0).largest_stage, "decode");
    EXPECT_NEAR(run.verdict.capacities.at(0).largest_share, 0.5, tolerance_);
  }
}

TEST_F(Planted, DeviceBound) {
  const Run run = measure({{"device", {"emulated:200"}}, {"workers", {"2"}}});
  expect_rate(run, 200);
  EXPECT_NEAR(run.measured.device_idle_fraction, 0, tolerance_);
  EXPECT_EQ(run.verdict.capacities.at(0).resource, "device");
  const double made = 2 / service(run, 0.008);
  EXPECT_NEAR(capacity(run, "loader"), made, tolerance_ * made);
}

TEST_F(Planted, TheTrainingThreadLoads) {
  // workers = 0: nothing overlaps but the step before. Each step is 4 x 8 ms of loading; the 10 ms
  // of the device's step hide behind it.
  const Run run = measure({{"device", {"emulated:400"}}, {"workers", {"0"}}});
  expect_rate(run, 1 / service(run, 0.008));
}

TEST_F(Planted, SpikesEveryN) {
  plant(measure::Stage::read).every = 8;
  plant(measure::Stage::read).spike_ns = 24 * kPlantedMs;  // mean service 8 + 24/8 = 11 ms
  const auto pool =
      measure({{"device", {"emulated:1000"}}, {"workers", {"2"}}, {"loader", {"pool"}}});
  const double pool_rate = 2 / service(pool, 0.011);
  expect_rate(pool, pool_rate);
  EXPECT_NEAR(capacity(pool, "loader"), pool_rate, tolerance_ * pool_rate);
  EXPECT_EQ(pool.verdict.capacities.at(0).largest_stage, "read");
  // Every second batch of four holds the spike, so one of the two workers gets all of them: its
  // batches take 4 x 8 + 24 ms, and delivery in order makes the other worker wait.
  const auto batch =
      measure({{"device", {"emulated:1000"}}, {"workers", {"2"}}, {"loader", {"batch"}}});
  expect_rate(batch, 2 / service(batch, 0.056 / 4));
}

// A median step would be wrong here: three of four steps wait for nothing.
TEST_F(Planted, RareLongSpikesAreInTheThroughput) {
  options_.limits.min_seconds = 6;
  plant(measure::Stage::decode).every = 64;
  plant(measure::Stage::decode).spike_ns = 512 * kPlantedMs;  // mean service 8 + 512/64 = 16 ms
  const Run run = measure({{"device", {"emulated:1000"}}, {"workers", {"1"}}});
  // The window may cut one of its about 6 periods: compare with the spikes that it holds.
  const double images = run.measured.images, spikes = std::round(images / 64);
  EXPECT_NEAR(run.measured.window_s, images * service(run, 0.008) + spikes * 0.512,
              0.512 + tolerance_ * run.measured.window_s);
  EXPECT_LT(run.measured.step_ms.summary.median, 0.7 * run.measured.step_ms.summary.mean);
}

TEST_F(Planted, AFullQueueAtTheStart) {
  for (auto& stage : options_.planted) stage.free_first = 64;
  // 16 batches of 4 are ready at once and would keep a device of 275 images/s busy for 2.6 s.
  const Run run = measure({{"device", {"emulated:275"}}, {"workers", {"2"}}, {"prefetch", {"16"}}});
  expect_rate(run, 2 / service(run, 0.008));
}

TEST_F(Planted, FourGpus) {
  const auto slow = measure({{"device", {"emulated:1000"}}, {"workers", {"1"}}, {"gpus", {"4"}}});
  const double made = 1 / service(slow, 0.008);
  expect_rate(slow, 4 * made);
  ASSERT_EQ(slow.measured.ranks.size(), 4u);
  for (const run::RankMeasurement& rank : slow.measured.ranks)
    EXPECT_NEAR(rank.imgs_per_s, made, tolerance_ * made) << "a fair share";
  EXPECT_NEAR(capacity(slow, "loader"), 4 * made, tolerance_ * 4 * made);
  EXPECT_NEAR(capacity(slow, "device"), 4000, tolerance_ * 4000);
  const auto fast = measure({{"device", {"emulated:100"}}, {"workers", {"1"}}, {"gpus", {"4"}}});
  expect_rate(fast, 400);
}

// Rank 3 alone makes 125 images/s, and its queue begins with more than its device of 140 takes in
// two seconds: until that stock is gone, all four run at 140.
TEST_F(Planted, NoRankLivesOnItsStock) {
  for (auto& stage : options_.planted) stage.free_first = 64;
  options_.planted_rank = 3;
  const plan::AxisValues axes = {
      {"device", {"emulated:140"}}, {"workers", {"1"}}, {"gpus", {"4"}}, {"prefetch", {"16"}}};
  const Run run = measure(axes);
  expect_rate(run, 4 / service(run, 0.008));
  ASSERT_TRUE(run.measured.straggler);
  EXPECT_EQ(run.measured.straggler->rank, 3u);
  options_.limits.max_seconds = 2.5;
  const Run cut = measure(axes);
  EXPECT_EQ(cut.measured.drawn_rank, 3u);
  EXPECT_GT(cut.measured.drawn_from_queue, 0.05) << "too short, and it says so";
}

// Workers that compute on the CPUs of the step: it never waits, and takes far longer than alone.
// Nothing but the CPU's own device can show it; a build without LibTorch has none.
TEST_F(Planted, LoadersThatTakeTheStepsCpusAreNotTheDevicesWork) {
  device::AcceleratorRegistry registry;
  const plan::AxisValues axes = {{"device", {"cpu"}},
                                 {"model", {"resnet18"}},
                                 {"workers", {std::to_string(2 * measure::allowed_cpus())}},
                                 {"input-size", {"32"}},
                                 {"image-size", {"8"}},
                                 {"batch-size", {"8"}},
                                 {"data", {"raw"}}};
  const plan::Cell cell = plan::expand(axes).at(0);
  run::CellRunner runner(options_, registry);
  try {
    runner.check(cell);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (auto& stage : options_.planted) stage = {.ns = 8 * kPlantedMs, .burns = true};
  run::CellRunner burning(options_, registry);
  run::CellResult ceiling, result;
  judge::Verdict verdict;
  // A machine whose speed jumps between the two runs, or that others use, shows nothing: again.
  const auto is_shown = [&] {
    return verdict.slowdown && verdict.slowdown->is_shown() && most_taken_ <= kMostTaken;
  };
  for (int tries = 0; tries < 4 && !is_shown(); ++tries) {
    ceiling = runner.run(plan::ceiling_of(cell), {}, {});
    result = burning.run(cell, {}, {});
    ASSERT_EQ(result.status, run::Status::ok) << result.error;
    ASSERT_EQ(ceiling.status, run::Status::ok) << ceiling.error;
    most_taken_ = std::max(taken_by_others(ceiling), taken_by_others(result));
    verdict = judge::verdict_of(
        result.settings, *result.measurement,
        judge::Ceiling{ceiling.measurement->imgs_per_s, ceiling.measurement->device_rate});
  }
  if (most_taken_ > kMostTaken) return;  // and is skipped
  const run::Measurement &there = *ceiling.measurement, &here = *result.measurement;
  ASSERT_TRUE(verdict.slowdown);
  EXPECT_LT(here.imgs_per_s, 0.8 * there.imgs_per_s) << "the burning is felt";
  EXPECT_TRUE(verdict.slowdown->is_shown());
  EXPECT_NEAR(here.device_idle_fraction + verdict.slowdown->lost_fraction,
              1 - here.imgs_per_s / there.imgs_per_s, 0.05)
      << "waiting and longer steps are all that is lost";
  EXPECT_EQ(verdict.sentence.find("not input-bound"), std::string::npos) << verdict.sentence;
}

// Nothing planted but the devices' pace: eight of them, fed by real tensors far faster than they
// ask for.
TEST_F(Planted, EightGpusReachEightTimesOne) {
  options_.plant = false;
  const Run run = measure(
      {{"device", {"emulated:500"}}, {"workers", {"1"}}, {"gpus", {"8"}}, {"batch-size", {"32"}}});
  EXPECT_NEAR(run.measured.imgs_per_s, 4000, (tolerance_ - 0.01) * 4000);
  EXPECT_GT(capacity(run, "loader"), 2 * 4000) << "too slow for this test";
}

TEST_F(Planted, NothingPlantedMattersBehindACacheOfBatches) {
  for (const char* cache : {"host", "device"}) {
    expect_rate(measure({{"device", {"emulated:1000"}}, {"cache", {cache}}}), 1000);
  }
}

// What each cache spares, in ms per step of 4 images by 2 workers; what is faster than the device's
// 1 ms hides behind it.
TEST_F(Planted, EachCacheSparesItsStages) {
  const auto step_ms = [&](const char* data, const char* cache) {
    const Run run = measure(
        {{"device", {"emulated:4000"}}, {"workers", {"2"}}, {"data", {data}}, {"cache", {cache}}});
    return 1e3 * 4 / run.measured.imgs_per_s;
  };
  const double synthetic = step_ms("synthetic", "none"), device = step_ms("raw", "device"),
               host = step_ms("raw", "host");
  const double sample = step_ms("raw", "sample"), decoded = step_ms("raw", "decoded"),
               encoded = step_ms("raw", "encoded");
  const double all = step_ms("raw", "none");
  const double tolerance = tolerance_ * 16;  // of the whole step
  EXPECT_NEAR(device - synthetic, 0, tolerance) << "normalise";
  EXPECT_NEAR(host - device, 0, tolerance) << "copy";
  EXPECT_NEAR(sample - host, 4 * 1 / 2.0 - 1, tolerance) << "collate";
  EXPECT_NEAR(decoded - sample, 4 * 1 / 2.0, tolerance) << "augment";
  EXPECT_NEAR(encoded - decoded, 4 * 4 / 2.0, tolerance) << "decode";
  EXPECT_NEAR(all - encoded, 4 * 2 / 2.0, tolerance) << "read";
}

}  // namespace
}  // namespace feedrate::tests
