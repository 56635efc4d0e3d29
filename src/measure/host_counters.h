#pragma once
#include <cstdint>
#include <vector>

#include "measure/control_group.h"

namespace feedrate::measure {

// Counters of the whole machine at one moment; the difference of two says what happened between.
// -1: unknown.
struct HostCounters {
  std::int64_t at_ns = 0;
  std::int64_t busy_ticks = 0;  // /proc/stat: user, nice, system, irq, softirq, of all CPUs
  std::int64_t iowait_ticks = 0;
  std::int64_t steal_ticks = 0;        // taken by the hypervisor for other machines
  std::int64_t interrupt_ticks = 0;    // of busy_ticks: irq, softirq
  std::int64_t all_ticks = 0;          // 0: /proc/stat cannot be read
  std::int64_t usable_busy_ticks = 0;  // the same three, of the CPUs that this process may use
  std::int64_t usable_interrupt_ticks = 0;
  std::int64_t usable_all_ticks = 0;
  std::int64_t process_cpu_ns = 0;             // of this process, all threads
  std::int64_t kernel_threads_ns = -1;         // CPU time, see kernel_threads.h; not read here
  std::int64_t usable_kernel_threads_ns = -1;  // of those that ran on these CPUs last
  std::int64_t psi_cpu_us = -1;                // /proc/pressure: some task waited for a CPU
  std::int64_t psi_io_us = -1;                 // some task waited for I/O
  std::int64_t psi_memory_us = -1;             // some task waited for memory: reclaim, swap
  std::vector<QuotaPeriods> quota;             // of the control groups that this process is in
  std::int64_t disk_read_bytes = -1;           // /proc/diskstats, of all disks
  std::int64_t network_received_bytes = -1;    // /proc/net/dev, but for the loopback
  std::int64_t process_read_bytes =
      -1;  // /proc/self/io: that this process caused to be fetched from storage
  std::int64_t memory_available_bytes = -1;  // /proc/meminfo: a level, not a counter
  double cpu_mhz = -1;                       // mean of up to 8 clocks, as the kernel says
  // False: as the time of the thread that they interrupt. Seen by the column irq of /proc/stat,
  // which a kernel without CONFIG_IRQ_TIME_ACCOUNTING never counts.
  bool accounts_interrupts = true;
};
HostCounters read_host_counters();
std::int64_t process_read_bytes();  // of it, HostCounters::process_read_bytes
// What the hypervisor took of each CPU since the machine began, nanoseconds, in steps of 10 ms
// mostly; in the order of /proc/stat. Empty where that cannot be read.
std::vector<std::int64_t> read_stolen_ns();

// Between two moments: shares 0..1 of the machine's CPUs; psi: of the time; -1: unknown, as where
// counters went backwards.
struct HostUse {
  double cpu_busy = -1;
  double cpu_iowait = -1;
  double cpu_steal = -1;
  double cpu_other_processes = -1;  // busy, but not by this process
  double usable_cpus_other_processes =
      -1;  // the same, as a share of the CPUs that this process may use
  // Of these two, what the kernel's own threads and interrupts took, such as encryption, network
  // storage and loop devices: the time of these threads, and irq and softirq of /proc/stat,
  // whichever thread they interrupted. No more than these two. A kernel that accounts interrupts by
  // themselves (CONFIG_IRQ_TIME_ACCOUNTING) has none of them in a thread's time, so what came to
  // the run's own threads is in all four. Another one has that in the run's own time as well: then
  // it is not in these two, but in the kernel's part of them.
  double cpu_kernel_threads = -1;
  double usable_cpus_kernel_threads = -1;
  // Of these, interrupts of such a kernel: so much at most came to the run's own threads, and is
  // taken off twice. 0: it accounts them by themselves.
  double cpu_interrupts = -1;
  double usable_cpus_interrupts = -1;
  double psi_cpu_some = -1;
  double psi_io_some = -1;
  double psi_memory_some = -1;
  double cpu_quota_stopped = -1;  // of the periods of its control group's CPU quota
  double disk_read_bytes_per_s = -1;
  double network_receive_bytes_per_s = -1;
  double storage_read_bytes = -1;      // by this process, see process_read_bytes
  double memory_available_bytes = -1;  // at the end
  double cpu_mhz = -1;                 // at the end
  double process_cpu_s = -1;           // CPU time of this process, all threads

  // What is left of the other processes' without the kernel's part, at least 0; a part that is
  // unknown takes nothing off. -1: unknown. It is the least that they took: a kernel that does not
  // account interrupts by themselves has those of the run's own threads taken off it, too.
  double cpu_neighbours() const;
  double usable_cpus_neighbours() const;
  // The most that they took: with all of those interrupts. -1: unknown.
  double cpu_neighbours_most() const;
  double usable_cpus_neighbours_most() const;
};
HostUse host_use(const HostCounters& from, const HostCounters& to);

// Moves `at` on by what was counted from one moment to the next; levels become the later one's. So
// host_use() of where it began and where it ends is that of several such stretches together. A
// counter that one of them does not know, or that went backwards in it, is unknown from then on.
void advance(HostCounters& at, const HostCounters& from, const HostCounters& to);

}  // namespace feedrate::measure
