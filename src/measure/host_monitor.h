#pragma once
#include <cstdint>

namespace feedrate {

// Counters of the whole machine at one moment; the difference of two says what happened between.
struct HostCounters {
  std::int64_t at_ns = 0;
  std::int64_t busy_ticks = 0;    // /proc/stat: user, nice, system, irq, softirq, of all CPUs
  std::int64_t iowait_ticks = 0;
  std::int64_t steal_ticks = 0;   // taken by the hypervisor for other machines
  std::int64_t all_ticks = 0;
  std::int64_t process_cpu_ns = 0;  // of this process, all threads
  std::int64_t psi_cpu_us = -1;   // /proc/pressure: some task waited for a CPU; -1: the kernel has none
  std::int64_t psi_io_us = -1;    // some task waited for I/O
};
HostCounters read_host_counters();

// Shares between two moments, 0..1 of the machine's CPUs; psi: of the time, -1 where the kernel has none.
struct HostUse {
  double cpu_busy = 0;
  double cpu_iowait = 0;
  double cpu_steal = 0;
  double cpu_other_processes = 0;  // busy, but not by this process
  double psi_cpu_some = -1;
  double psi_io_some = -1;
};
HostUse host_use(const HostCounters& from, const HostCounters& to);

}  // namespace feedrate
