#include <gtest/gtest.h>

#include "measure/clock.h"
#include "measure/gpu_monitor.h"

// Beside fake_nvml.cpp, which the loader finds in place of the driver's library.
namespace feedrate::tests {
namespace {

TEST(Nvml, SaysWhatTheGpuSays) {
  std::string problem;
  const auto gpu = measure::open_nvml("0000:01:00.0", problem);
  ASSERT_TRUE(gpu) << problem;
  const measure::GpuState s = gpu->state();
  EXPECT_EQ(s.utilisation_percent, 97);
  EXPECT_EQ(s.memory_utilisation_percent, 41);
  EXPECT_EQ(s.sm_mhz, 1980);
  EXPECT_EQ(s.memory_mhz, 3201);
  EXPECT_DOUBLE_EQ(s.power_w, 612.345);
  EXPECT_DOUBLE_EQ(s.power_limit_w, 700);
  EXPECT_EQ(s.temperature_c, 55);
  EXPECT_DOUBLE_EQ(s.memory_used_mb, 50000);
  EXPECT_DOUBLE_EQ(s.pcie_rx_mb_s, 7000);
  EXPECT_DOUBLE_EQ(s.pcie_tx_mb_s, 3);
  EXPECT_EQ(s.compute_processes, 2);
  EXPECT_EQ(measure::throttle_text(s.throttle_reasons), "") << "an idle GPU is not held back";
}

TEST(Nvml, LeavesOutWhatTheGpuDoesNotSay) {
  std::string problem;
  const auto gpu = measure::open_nvml("0000:02:00.0", problem);
  ASSERT_TRUE(gpu) << problem;
  EXPECT_EQ(gpu->state().utilisation_percent, -1);
  EXPECT_EQ(gpu->state().compute_processes, -1);
  EXPECT_EQ(gpu->state().power_limit_w, -1);
  EXPECT_EQ(measure::throttle_text(gpu->state().throttle_reasons),
            "power cap, hardware thermal slowdown");
}

TEST(Nvml, NamesAGpuThatThereIsNot) {
  std::string problem;
  EXPECT_FALSE(measure::open_nvml("0000:7F:00.0", problem));
  EXPECT_NE(problem.find("Not Found"), std::string::npos) << problem;
  EXPECT_NE(problem.find("0000:7F:00.0"), std::string::npos) << problem;
}

TEST(GpuMonitor, LooksOncePerPeriodAndTellsWhatLiesBetween) {
  const std::int64_t start = measure::now_ns();
  const measure::GpuMonitor monitor("0000:01:00.0", 10'000'000);
  EXPECT_EQ(monitor.problem(), "");
  while (monitor.between(start, measure::now_ns()).size() < 5)
    measure::sleep_until_ns(measure::now_ns() + 5'000'000);
  const std::int64_t middle = measure::now_ns();
  EXPECT_GE(middle - start, 40'000'000) << "no faster than asked for";
  EXPECT_TRUE(monitor.between(measure::now_ns() + 1'000'000'000, measure::now_ns() + 2'000'000'000)
                  .empty());
  for (const measure::GpuSample& sample : monitor.between(start, middle)) {
    EXPECT_GE(sample.at_ns, start);
    EXPECT_LE(sample.at_ns, middle);
    EXPECT_EQ(sample.state.sm_mhz, 1980);
  }
}

TEST(GpuMonitor, DoesNothingWithoutAGpu) {
  const measure::GpuMonitor monitor("");
  EXPECT_EQ(monitor.problem(), "");
  EXPECT_TRUE(monitor.between(0, measure::now_ns()).empty());
}

}  // namespace
}  // namespace feedrate::tests
