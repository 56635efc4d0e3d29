#include "measure/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "measure/error.h"

namespace feedrate {

// Of the whole process: a thread that asks for its own would find what it has been pinned to.
std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin_this_thread(int n) {
  const std::vector<int> cpus = usable_cpus();
  cpu_set_t one;
  CPU_ZERO(&one);
  if (!cpus.empty()) CPU_SET(cpus[static_cast<std::size_t>(n) % cpus.size()], &one);
  if (const int failed = pthread_setaffinity_np(pthread_self(), sizeof one, &one); failed != 0) {
    throw Error("--pin-workers", std::strerror(failed), "use --pin-workers off");
  }
}

}  // namespace feedrate
