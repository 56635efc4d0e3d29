#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

namespace feedrate::measure {

// The CPU time of each of the kernel's own threads (/proc/PID/stat): what they do for storage,
// network and encryption is done for the programs that asked, and nobody can end them. Without
// ksoftirqd, whose time is that of interrupts as well.
struct KernelThreads {
  struct Thread {
    std::int64_t ticks = 0;  // of USER_HZ, since it began
    int cpu = -1;            // on which it ran last
  };
  // By process id and when it began, as ids come again.
  std::map<std::pair<std::int64_t, std::int64_t>, Thread> threads;
};

// Takes about 10 microseconds for each process of the machine: milliseconds, on a large one tens of
// them. Empty where none can be seen, as in a container. `proc`: another for tests.
KernelThreads read_kernel_threads(const std::filesystem::path& proc = "/proc");

// Nanoseconds that those took which were there at the end; -1: none can be seen. `cpus`: of those
// alone that ran on one of these last, which most of them never leave; empty: of all.
std::int64_t cpu_ns_between(const KernelThreads& from, const KernelThreads& to,
                            std::span<const int> cpus = {});

}  // namespace feedrate::measure
