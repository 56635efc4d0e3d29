#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "measure/clock.h"
#include "measure/host_monitor.h"

namespace feedrate::tests {
namespace {

TEST(HostUse, IsWhatHappenedBetween) {
  measure::HostCounters from, to;
  to.at_ns = 2'000'000'000;
  to.busy_ticks = 150, to.iowait_ticks = 20, to.steal_ticks = 10, to.all_ticks = 400;
  from.psi_cpu_us = 100, to.psi_cpu_us = 100 + 500'000;
  from.disk_read_bytes = 1000, to.disk_read_bytes = 5000;
  from.process_read_bytes = 7, to.process_read_bytes = 4096 + 7;
  to.memory_available_bytes = 1 << 30;
  const measure::HostUse use = measure::host_use(from, to);
  EXPECT_DOUBLE_EQ(use.cpu_busy, 0.375);
  EXPECT_DOUBLE_EQ(use.cpu_iowait, 0.05);
  EXPECT_DOUBLE_EQ(use.cpu_steal, 0.025);
  EXPECT_DOUBLE_EQ(use.psi_cpu_some, 0.25);
  EXPECT_DOUBLE_EQ(use.disk_read_bytes_per_s, 2000);
  EXPECT_DOUBLE_EQ(use.storage_read_bytes, 4096);
  EXPECT_DOUBLE_EQ(use.memory_available_bytes, 1 << 30);
  EXPECT_EQ(use.psi_io_some, -1) << "what cannot be told";
  EXPECT_EQ(use.network_receive_bytes_per_s, -1);
}

TEST(HostUse, IsAShareThoughClockAndCountersAreReadOneAfterTheOther) {
  measure::HostCounters from, to;
  to.at_ns = 100'000'000, to.all_ticks = 20;
  from.psi_cpu_us = 0, to.psi_cpu_us = 103'100;
  from.iowait_ticks = 7, to.iowait_ticks = 6;
  from.psi_io_us = 500, to.psi_io_us = 400;
  from.disk_read_bytes = 5000, to.disk_read_bytes = 1000;
  const measure::HostUse use = measure::host_use(from, to);
  EXPECT_EQ(use.psi_cpu_some, 1);
  EXPECT_EQ(use.cpu_iowait, 0);
  EXPECT_EQ(use.psi_io_some, -1) << "a counter that jumps backwards says nothing";
  EXPECT_EQ(use.disk_read_bytes_per_s, -1);
}

TEST(HostMonitor, SeesABusyThread) {
  measure::HostMonitor monitor(20'000'000);
  const std::int64_t start = measure::now_ns();
  while (measure::now_ns() - start < 300'000'000) {
  }
  const std::int64_t end = measure::now_ns();
  const auto samples = monitor.between(start, end);
  ASSERT_GE(samples.size(), 3u);
  double most = 0;
  for (const measure::HostSample& sample : samples) {
    EXPECT_GE(sample.at_ns, start);
    EXPECT_LE(sample.at_ns, end);
    most = std::max(most, sample.use.cpu_busy);
  }
  EXPECT_GT(most, 0);
  EXPECT_TRUE(monitor.between(end, start).empty());
}

}  // namespace
}  // namespace feedrate::tests
