#include <gtest/gtest.h>

#include "judge/capacity.h"

namespace feedrate::tests {
namespace {

measure::StageTotal total(double ms_per_item, std::int64_t items) {
  return {static_cast<std::int64_t>(ms_per_item * 1e6 * static_cast<double>(items)), 0, items, 0};
}

TEST(Capacity, OfEachResourceInItsClosedForm) {
  judge::CapacityInputs run{.imgs_per_s = 240,
                            .gpus = 2,
                            .workers = 3,
                            .batch_size = 10,
                            .device_ms_per_step = 50,
                            .arrival_s_per_batch = 0.010};
  run.stages.stage = {measure::StageTotal{}, total(5, 100), total(10, 100), total(4, 100),
                      total(1, 100)};
  const auto all = judge::capacities(run);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].resource, "loader");
  EXPECT_NEAR(all[0].imgs_per_s, 2 * 3 / 0.020, 1e-6);
  EXPECT_NEAR(all[0].utilisation, 0.8, 1e-9);
  EXPECT_EQ(all[0].largest_stage, "decode");
  EXPECT_NEAR(all[0].largest_share, 0.5, 1e-9);
  EXPECT_EQ(all[1].resource, "device");
  EXPECT_NEAR(all[1].imgs_per_s, 400, 1e-9);
  EXPECT_EQ(all[2].resource, "link");
  EXPECT_NEAR(all[2].imgs_per_s, 2000, 1e-9);
}

// Two CPUs, eight threads: the threads wait for a CPU for three quarters of their wall time, mostly
// in a stage that chance decides.
TEST(Capacity, BusyCpusAreNamedBeforeTheLoaderThatRunsOnThem) {
  judge::CapacityInputs run{.imgs_per_s = 190,
                            .gpus = 4,
                            .workers = 2,
                            .batch_size = 10,
                            .cpus = 2,
                            .device_ms_per_step = 10};
  run.stages[measure::Stage::decode] = {10'000'000 * 100LL, 8'000'000 * 100LL, 100, 0};
  run.stages[measure::Stage::augment] = {30'000'000 * 100LL, 2'000'000 * 100LL, 100, 0};
  const auto busy = judge::capacities(run);
  ASSERT_EQ(busy.size(), 3u);
  EXPECT_EQ(busy[0].resource, "cpu");
  EXPECT_NEAR(busy[0].imgs_per_s, 2 / 0.010, 1e-6);
  EXPECT_NEAR(busy[0].utilisation, 0.95, 1e-9);
  EXPECT_EQ(busy[0].largest_stage, "decode");
  EXPECT_NEAR(busy[0].largest_share, 0.8, 1e-9);
  EXPECT_EQ(busy[1].resource, "loader");
  EXPECT_EQ(busy[1].largest_stage, "augment");
  // The device is the slower one: it stays first.
  run.device_ms_per_step = 300;
  EXPECT_EQ(judge::capacities(run)[0].resource, "device");
  // Idle CPUs limit nothing: the loader is named.
  run.device_ms_per_step = 10;
  run.cpus = 16;
  EXPECT_EQ(judge::capacities(run)[0].resource, "loader");
}

// Sixteen threads on two CPUs, which others use as well: a thread that has no CPU stands wherever
// it was. What decoding takes of the loader is its computing and its own waiting alone.
TEST(Capacity, WaitingForACpuIsNoStagesTime) {
  judge::CapacityInputs run{
      .imgs_per_s = 300, .workers = 16, .batch_size = 10, .cpus = 8, .device_ms_per_step = 10};
  run.stages[measure::Stage::read] = {4'000'000 * 100LL, 1'000'000 * 100LL, 100, 0};
  run.stages[measure::Stage::decode] = {14'000'000 * 100LL, 8'000'000 * 100LL, 100, 0};
  run.stages[measure::Stage::augment] = {32'000'000 * 100LL, 1'000'000 * 100LL, 100, 0};
  const auto loader = [&] {
    for (const judge::Capacity& c : judge::capacities(run)) {
      if (c.resource == "loader") return c;
    }
    return judge::Capacity{};
  };
  EXPECT_EQ(loader().largest_stage, "augment") << "where nobody counts the waiting";
  run.stages.cpu_wait_ns = 36'000'000 * 100LL;  // of the 40 ms in which they did not compute
  EXPECT_EQ(loader().largest_stage, judge::kCpuWait);
  EXPECT_NEAR(loader().largest_share, 36.0 / 50, 1e-9);
  EXPECT_NEAR(loader().imgs_per_s, 16 / 0.050, 1e-6) << "what they could deliver stays";
  const judge::ServiceTimes times = judge::service_times(run.stages);
  ASSERT_EQ(times.parts.size(), 4u);
  EXPECT_NEAR(times.parts[0].ms, 1 + 3 * 0.1, 1e-9);
  EXPECT_NEAR(times.parts[1].ms, 8 + 6 * 0.1, 1e-9);
  EXPECT_NEAR(times.parts[2].ms, 1 + 31 * 0.1, 1e-9);
  EXPECT_NEAR(times.parts[3].ms, 36, 1e-9);
  run.stages.cpu_wait_ns = 1'000'000 * 100'000LL;  // counted a moment longer than the stages
  EXPECT_NEAR(judge::service_times(run.stages).parts[3].ms, 40, 1e-9) << "never more";
}

// Eight threads, one at a time in the library: what they could do without it says nothing.
TEST(Capacity, ALibraryThatLetsOneThreadInIsAResource) {
  judge::CapacityInputs run{
      .imgs_per_s = 95, .gpus = 1, .workers = 8, .batch_size = 10, .device_ms_per_step = 10};
  run.stages[measure::Stage::lock] = total(70, 100);
  run.stages[measure::Stage::read] = total(10, 100);
  run.stages[measure::Stage::collate] = total(1, 100);
  const auto all = judge::capacities(run);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].resource, "loader");
  EXPECT_EQ(all[0].largest_stage, "lock");
  EXPECT_NEAR(all[0].imgs_per_s, 8 / 0.081, 1e-6);
  EXPECT_EQ(all[1].resource, "library");
  EXPECT_NEAR(all[1].imgs_per_s, 100, 1e-9);
  // Fed by a slow device nobody waits for it; it is the limit all the same.
  run.stages[measure::Stage::lock] = total(0, 100);
  EXPECT_EQ(judge::capacities(run)[0].resource, "library");
}

TEST(Capacity, WhatIsDecodedOnItsWayIsTheDecodersAndNotTheLinks) {
  judge::CapacityInputs run{.imgs_per_s = 900,
                            .gpus = 2,
                            .batch_size = 64,
                            .device_ms_per_step = 64,
                            .arrival_s_per_batch = 0.128,
                            .decoded_on_device = true};
  const auto all = judge::capacities(run);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].resource, "decoder");
  EXPECT_EQ(all[0].largest_stage, "decode");
  EXPECT_NEAR(all[0].imgs_per_s, 1000, 1e-9);
  EXPECT_NEAR(all[0].utilisation, 0.9, 1e-9);
}

TEST(Capacity, ALoaderThatIsNotSeenIsLeftOut) {
  judge::CapacityInputs run{
      .imgs_per_s = 95, .loader_seen = false, .batch_size = 10, .device_ms_per_step = 10};
  run.stages[measure::Stage::decode] = total(1, 100);
  ASSERT_EQ(judge::capacities(run).size(), 1u);
  EXPECT_EQ(judge::capacities(run)[0].resource, "device");
}

TEST(Capacity, NothingIsInventedForWhatWasNotMeasured) {
  EXPECT_TRUE(judge::capacities({}).empty());
}

}  // namespace
}  // namespace feedrate::tests
