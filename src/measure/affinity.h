#pragma once
#include <vector>

namespace feedrate {

// The CPUs that this process may use (its affinity, not the calling thread's), in order; empty if it cannot be told.
std::vector<int> usable_cpus();

// Keeps the calling thread on one of the CPUs that this process may use: the n-th of them, round and round.
// Throws an Error where the kernel refuses.
void pin_this_thread(int n);

}  // namespace feedrate
