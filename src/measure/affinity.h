#pragma once

namespace feedrate {

// Keeps the calling thread on one of the CPUs that this process may use: the n-th of them, round and round.
// Throws an Error where the kernel refuses.
void pin_this_thread(int n);

}  // namespace feedrate
