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

// What they do for the run's own reads is done by no other process.
TEST(HostUse, KnowsTheKernelsOwnPart) {
  measure::HostCounters from, to;
  to.all_ticks = 400, to.busy_ticks = 200, to.interrupt_ticks = 20;
  to.usable_all_ticks = 100, to.usable_busy_ticks = 100, to.usable_interrupt_ticks = 15;
  EXPECT_EQ(measure::host_use(from, to).cpu_kernel_threads, -1) << "nobody looked";
  from.kernel_threads_ns = 0, to.kernel_threads_ns = 200'000'000;
  from.usable_kernel_threads_ns = 0, to.usable_kernel_threads_ns = 50'000'000;
  const measure::HostUse use = measure::host_use(from, to);
  EXPECT_DOUBLE_EQ(use.cpu_kernel_threads, 0.1);
  EXPECT_DOUBLE_EQ(use.usable_cpus_kernel_threads, 0.2);
  EXPECT_DOUBLE_EQ(use.cpu_other_processes, 0.5) << "it is still busy time of others";
  EXPECT_DOUBLE_EQ(use.cpu_neighbours(), 0.4);
  EXPECT_DOUBLE_EQ(use.usable_cpus_neighbours(), 0.8);
}

// Some of them came to the run's own threads, of whose time they are: nobody knows how many.
TEST(HostUse, InterruptsThatTheKernelDoesNotAccountLeaveARange) {
  measure::HostCounters from, to;
  to.all_ticks = to.usable_all_ticks = 400, to.busy_ticks = to.usable_busy_ticks = 200;
  to.interrupt_ticks = to.usable_interrupt_ticks = 20;
  EXPECT_EQ(measure::host_use(from, to).cpu_interrupts, -1) << "nobody looked";
  from.kernel_threads_ns = 0, to.kernel_threads_ns = 200'000'000;
  from.usable_kernel_threads_ns = 0, to.usable_kernel_threads_ns = 200'000'000;
  EXPECT_NEAR(measure::host_use(from, to).cpu_neighbours_most(), 0.4, 1e-12) << "by themselves";
  to.accounts_interrupts = false;
  const measure::HostUse use = measure::host_use(from, to);
  EXPECT_NEAR(use.cpu_interrupts, 0.05, 1e-12);
  EXPECT_NEAR(use.cpu_neighbours(), 0.4, 1e-12);
  EXPECT_NEAR(use.cpu_neighbours_most(), 0.45, 1e-12);
  EXPECT_NEAR(use.usable_cpus_neighbours_most(), 0.45, 1e-12);
  to.process_cpu_ns = 1'800'000'000;  // of 2 s: others took 0.05, all of it the kernel's threads
  EXPECT_NEAR(measure::host_use(from, to).cpu_neighbours_most(), 0, 1e-12);
  EXPECT_EQ(measure::HostUse().cpu_neighbours_most(), -1) << "unknown";
}

// On 64 CPUs, of which the run may use four: elsewhere a CPU is busy with interrupts.
TEST(HostUse, WhatTheKernelDoesOnOtherCpusHidesNoNeighbour) {
  measure::HostCounters from, to;
  to.all_ticks = 6400, to.busy_ticks = 180, to.interrupt_ticks = 100;
  to.usable_all_ticks = 400, to.usable_busy_ticks = 80;
  from.kernel_threads_ns = to.kernel_threads_ns = 0;
  from.usable_kernel_threads_ns = to.usable_kernel_threads_ns = 0;
  EXPECT_DOUBLE_EQ(measure::host_use(from, to).usable_cpus_neighbours(), 0.2);
}

// Interrupts that the kernel counts as the interrupted thread's time are no other process's.
TEST(HostUse, NoMoreIsTheKernelsThanOthersTook) {
  measure::HostCounters from, to;
  to.all_ticks = to.usable_all_ticks = 400, to.busy_ticks = to.usable_busy_ticks = 200;
  to.interrupt_ticks = to.usable_interrupt_ticks = 60;
  to.process_cpu_ns = 1'800'000'000;
  from.kernel_threads_ns = to.kernel_threads_ns = 0;
  from.usable_kernel_threads_ns = to.usable_kernel_threads_ns = 0;
  const measure::HostUse use = measure::host_use(from, to);
  EXPECT_NEAR(use.cpu_other_processes, 0.05, 1e-12);
  EXPECT_EQ(use.cpu_kernel_threads, use.cpu_other_processes);
  EXPECT_EQ(use.usable_cpus_kernel_threads, use.usable_cpus_other_processes);
  EXPECT_EQ(use.cpu_neighbours(), 0);
  measure::HostUse later = use;
  later.cpu_other_processes = 0.02;  // without those of other ranks
  EXPECT_EQ(later.cpu_neighbours(), 0);
  EXPECT_EQ(measure::HostUse().cpu_neighbours(), -1) << "unknown";
}

// A virtual machine that moves to another host, for instance.
TEST(HostUse, OfCountersThatGoBackwardsIsUnknown) {
  measure::HostCounters from, to;
  from.busy_ticks = 100, from.steal_ticks = 50, from.all_ticks = 1000;
  to.busy_ticks = 150, to.steal_ticks = 2, to.all_ticks = 1100;
  from.process_read_bytes = 9, to.process_read_bytes = 5;
  const measure::HostUse use = measure::host_use(from, to);
  EXPECT_EQ(use.cpu_busy, -1);
  EXPECT_EQ(use.cpu_steal, -1);
  EXPECT_EQ(use.cpu_other_processes, -1);
  EXPECT_EQ(use.storage_read_bytes, -1);
}

TEST(HostUse, OfSeveralStretchesIsUnknownWhereOneIs) {
  measure::HostCounters began, first, second, third;
  began.psi_io_us = 0, first.psi_io_us = 100'000, second.psi_io_us = -1, third.psi_io_us = 300'000;
  began.psi_cpu_us = 0, first.psi_cpu_us = 100'000, second.psi_cpu_us = 200'000;
  third.psi_cpu_us = 300'000;
  first.at_ns = 1'000'000'000, second.at_ns = 2'000'000'000, third.at_ns = 3'000'000'000;
  measure::HostCounters at = began;
  measure::advance(at, began, first);
  EXPECT_DOUBLE_EQ(measure::host_use(began, at).psi_io_some, 0.1);
  measure::advance(at, first, second);
  measure::advance(at, second, third);
  const measure::HostUse use = measure::host_use(began, at);
  EXPECT_EQ(use.psi_io_some, -1);
  EXPECT_DOUBLE_EQ(use.psi_cpu_some, 0.1);
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
