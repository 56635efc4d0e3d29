#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::measure {

// The CPUs that this process may use (its affinity, not the calling thread's), in order; empty if
// unknown.
std::vector<int> usable_cpus();
std::string cpu_list(const std::vector<int>& cpus);  // "0-3,8", as Linux writes them
int allowed_cpus();                                  // how many these are, at least 1

// The same CPUs in an order in which neighbours share most: by NUMA node, then core, so that a part
// of the list is a part of the machine. Linux may number a core's two threads far apart. `system`:
// for tests.
std::vector<int> neighbours_together(
    std::vector<int> cpus, const std::filesystem::path& system = "/sys/devices/system/cpu");

// Whether usable_cpus() are all CPUs of the machine: nobody has restricted this process to some of
// them.
bool may_use_all_cpus();

// Keeps the calling thread, and the threads that it starts from now on, on these CPUs. If the first
// thread calls it, they are the process's.
void keep_to_cpus(const std::vector<int>& cpus);

// Keeps the calling thread on one of the CPUs that this process may use: the n-th of them, counted
// round and round. Throws an Error where the kernel refuses.
void pin_this_thread(int n);

}  // namespace feedrate::measure
