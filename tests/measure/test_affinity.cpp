#include <gtest/gtest.h>
#include <sched.h>

#include <set>
#include <thread>

#include "measure/affinity.h"
#include "measure/clock.h"

namespace feedrate {
namespace {

TEST(PinThisThread, KeepsItOnOneCpuRoundAndRound) {
  std::set<int> seen;
  for (int n = 0; n < 2 * allowed_cpus(); ++n) {
    int cpu = -1, next = -1;
    std::thread([&] {
      pin_this_thread(n);
      cpu = sched_getcpu();
      pin_this_thread(n + allowed_cpus());  // found among the process's CPUs, not its own one
      next = sched_getcpu();
      cpu_set_t set;
      CPU_ZERO(&set);
      sched_getaffinity(0, sizeof set, &set);
      EXPECT_EQ(CPU_COUNT(&set), 1);
    }).join();
    EXPECT_EQ(cpu, next);
    seen.insert(cpu);
  }
  EXPECT_EQ(static_cast<int>(seen.size()), allowed_cpus());
}

}  // namespace
}  // namespace feedrate
