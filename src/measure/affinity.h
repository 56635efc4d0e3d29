#pragma once
#include <filesystem>
#include <vector>

namespace feedrate {

// The CPUs that this process may use (its affinity, not the calling thread's), in order; empty if it cannot be told.
std::vector<int> usable_cpus();

// The same CPUs in an order in which neighbours share most: by NUMA node, then core, so that a part of the list is a
// part of the machine. Linux may number a core's two threads far apart. `system`: for tests.
std::vector<int> neighbours_together(std::vector<int> cpus, const std::filesystem::path& system = "/sys/devices/system/cpu");

// Whether usable_cpus() are all CPUs of the machine: nobody has chosen any for it.
bool may_use_all_cpus();

// Keeps the calling thread, and those that it starts from now on, on these; the process's, if it is the first one.
void keep_to_cpus(const std::vector<int>& cpus);

// Keeps the calling thread on one of the CPUs that this process may use: the n-th of them, round and round.
// Throws an Error where the kernel refuses.
void pin_this_thread(int n);

}  // namespace feedrate
