#include "run/together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <thread>
#include <vector>

#include "measure/clock.h"
#include "plan/expand.h"
#include "storage/dataset.h"
#include "tests/support.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

using Spans = std::vector<run::TimeSpan>;

TEST(Together, WhatAllWindowsHaveInCommonIsAShareOfTheLongest) {
  EXPECT_DOUBLE_EQ(run::common_share(Spans{{0, 10}, {0, 10}, {0, 10}}), 1);
  EXPECT_DOUBLE_EQ(run::common_share(Spans{{0, 10}, {1, 11}}), 0.9);
  EXPECT_DOUBLE_EQ(run::common_share(Spans{{0, 20}, {5, 15}}), 0.5) << "one within the other";
  EXPECT_DOUBLE_EQ(run::common_share(Spans{{0, 10}, {2, 12}, {4, 14}}), 0.6);
  EXPECT_EQ(run::common_share(Spans{{0, 10}, {10, 20}}), 0) << "one after the other";
  EXPECT_EQ(run::common_share(Spans{{0, 10}, {5, 15}, {12, 20}}), 0)
      << "two at a time, never three";
  EXPECT_EQ(run::common_share(Spans{}), 0);
}

// Two jobs prepare for 3 and 1 s: one after the other they have begun after 4 of 11 s.
TEST(Together, AllLoadForTheLastHalfOfTheWarmUp) {
  const std::vector<run::Beginning> alone = {{3, 1}, {1, 1.5}};
  const run::RunLimits limits{.warmup_seconds = 1, .max_warmup_seconds = 60, .max_seconds = 20};
  const run::SharedWindow at = run::appointment_of(100 * kSecond, alone, limits);
  EXPECT_EQ(at.opens_ns, 111 * kSecond);
  EXPECT_EQ(at.leaves_ns, 133 * kSecond) << "a tenth longer than the longest window";
}

TEST(Together, AJobThatWasNeverSteadyHoldsNobodyUpForLonger) {
  const run::RunLimits limits{.warmup_seconds = 1, .max_warmup_seconds = 60};
  const std::vector<run::Beginning> alone = {{0, 60}, {0, 1}};
  EXPECT_EQ(run::appointment_of(0, alone, limits).opens_ns, 60 * kSecond);
  const run::RunLimits longer{.warmup_seconds = 90, .max_warmup_seconds = 60};
  EXPECT_EQ(run::appointment_of(0, alone, longer).opens_ns, 90 * kSecond) << "as asked";
}

run::JobEnd ended(std::int64_t at_ns, double busy = 0.5, double others = 0.4) {
  run::JobEnd end{.at_ns = at_ns};
  end.result.status = run::Status::ok;
  end.result.measurement.emplace();
  run::Measurement& m = *end.result.measurement;
  m.window_start_ns = 10 * kSecond, m.window_s = 5;
  m.machines = {{"", {.cpu_busy = busy, .cpu_other_processes = others}}};
  m.host_series.push_back({0, {.cpu_other_processes = others}});
  return end;
}
run::JobEnd failed(std::int64_t at_ns) {
  run::JobEnd end;
  end.at_ns = at_ns;
  return end;
}

TEST(Together, AJobThatFailedHadAPartIfTheWindowsWereOpen) {
  const std::vector early = {ended(15 * kSecond), ended(15 * kSecond), failed(9 * kSecond)};
  EXPECT_EQ(run::overlap_of(early, 10 * kSecond).jobs, 2);
  EXPECT_DOUBLE_EQ(run::overlap_of(early, 10 * kSecond).share, 1);
  const std::vector late = {ended(15 * kSecond), ended(15 * kSecond), failed(12 * kSecond)};
  EXPECT_EQ(run::overlap_of(late, 10 * kSecond).jobs, 3);
  EXPECT_EQ(run::overlap_of(late, 10 * kSecond).share, 0) << "it loaded for a part of the time";
}

// Of CPUs that are busy for 0.9, the jobs took 0.3, 0.2 and 0.25.
TEST(Together, TheOtherJobsAreNoOtherPrograms) {
  std::vector<run::JobEnd> ends = {ended(0, 0.9, 0.6), ended(0, 0.9, 0.7), failed(0),
                                   ended(0, 0.9, 0.65)};
  run::leave_out_each_other(ends);
  for (const run::JobEnd& end : ends) {
    if (!end.result.measurement) continue;
    const measure::HostUse& use = end.result.measurement->machines.front().use;
    EXPECT_NEAR(use.cpu_other_processes, 0.15, 1e-12);
    EXPECT_NEAR(use.usable_cpus_other_processes, 0.15, 1e-12);
    EXPECT_EQ(end.result.measurement->host_series.front().use.cpu_other_processes, -1);
  }
}

TEST(Together, WhatNobodyCanSeeStaysUnknown) {
  std::vector<run::JobEnd> ends = {ended(0, -1, -1), ended(0, -1, -1)};
  run::leave_out_each_other(ends);
  EXPECT_EQ(ends[0].result.measurement->machines.front().use.cpu_other_processes, -1);
}

class RunTogether : public testing::Test {
 protected:
  RunTogether() { make_dataset(folder_.path(), {"jpeg", "tensor"}, {32, 32}, 64); }

  static plan::Cell cell(const char* data) {
    return plan::expand({{"data", {data}},
                         {"device", {"emulated:100"}},  // that any machine keeps up with
                         {"batch-size", {"4"}},
                         {"workers", {"1"}},
                         {"image-size", {"32"}},
                         {"input-size", {"32"}}})
        .at(0);
  }
  // One job of each; `left_s`: until the windows open.
  std::vector<run::JobEnd> run(const std::vector<const char*>& data, double left_s,
                               std::stop_token stop = {}) {
    appointment_ =
        run::appointment_of(measure::now_ns(), std::vector{run::Beginning{0, left_s / 2}}, limits_);
    std::deque<run::CellRunner> runners;
    std::vector<run::Job> jobs;
    for (std::size_t i = 0; i < data.size(); ++i) {
      run::RunOptions options;
      options.data = folder_.path();
      options.limits = limits_;
      options.seed = i;
      options.appointment = appointment_;
      runners.emplace_back(options, registry_);
      runners.back().check(cell(data[i]));
      jobs.push_back({cell(data[i]), &runners.back()});
    }
    return run::run_together(
        jobs, [this](std::span<const run::RunProgress> seen) { seen_ = seen.size(); },
        std::move(stop));
  }

  TemporaryFolder folder_;
  device::AcceleratorRegistry registry_;
  run::RunLimits limits_{.warmup_seconds = 0.2, .min_seconds = 1, .max_seconds = 1.05};
  run::SharedWindow appointment_;
  std::size_t seen_ = 0;
};

TEST_F(RunTogether, WindowsOpenWhenTheyAreToAndAllStayUntilTheEnd) {
  const std::vector<run::JobEnd> ends = run({"jpeg", "tensor", "tensor"}, 1);
  for (const run::JobEnd& end : ends) {
    ASSERT_EQ(end.result.status, run::Status::ok) << end.result.error;
    const run::Measurement& m = *end.result.measurement;
    EXPECT_NEAR(m.imgs_per_s, 100, 10);
    EXPECT_GE(m.window_start_ns, appointment_.opens_ns);
    EXPECT_GE(end.at_ns, appointment_.leaves_ns);
    EXPECT_EQ(end.result.started_at, ends.front().result.started_at);
  }
  EXPECT_EQ(run::overlap_of(ends, appointment_.opens_ns).jobs, 3);
  EXPECT_GT(run::overlap_of(ends, appointment_.opens_ns).share, 0.8);
  EXPECT_EQ(seen_, 3u);
}

TEST_F(RunTogether, AJobThatFailsEndsAlone) {
  const auto variant = storage::open_dataset(folder_.path(), "jpeg/32x32");
  // Not the first and the last, which are looked at beforehand.
  for (std::size_t i = 1; i + 1 < variant.samples.size(); ++i) {
    const storage::SampleFile& sample = variant.samples[i];
    std::filesystem::resize_file(variant.folder / sample.path, sample.bytes - 1);
  }
  const std::vector<run::JobEnd> ends = run({"jpeg", "tensor", "tensor"}, 1);
  EXPECT_EQ(ends[0].result.status, run::Status::failed);
  EXPECT_THAT(ends[0].result.error, testing::HasSubstr("jpeg/32x32"));
  EXPECT_LT(ends[0].at_ns, appointment_.opens_ns);
  EXPECT_EQ(ends[1].result.status, run::Status::ok) << ends[1].result.error;
  EXPECT_EQ(ends[2].result.status, run::Status::ok) << ends[2].result.error;
  EXPECT_EQ(run::overlap_of(ends, appointment_.opens_ns).jobs, 2);
}

TEST_F(RunTogether, StoppingEndsAllOfThem) {
  std::stop_source stop;
  std::jthread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  limits_.max_warmup_seconds = 1000;
  for (const run::JobEnd& end : run({"jpeg", "tensor"}, 500, stop.get_token()))
    EXPECT_EQ(end.result.status, run::Status::interrupted);
}

}  // namespace
}  // namespace feedrate::tests
