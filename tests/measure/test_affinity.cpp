#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "measure/affinity.h"
#include "measure/clock.h"

namespace feedrate::tests {
namespace {

TEST(PinThisThread, KeepsItOnOneCpuRoundAndRound) {
  std::set<int> seen;
  for (int n = 0; n < 2 * measure::allowed_cpus(); ++n) {
    int cpu = -1, next = -1;
    std::thread([&] {
      measure::pin_this_thread(n);
      cpu = sched_getcpu();
      measure::pin_this_thread(
          n + measure::allowed_cpus());  // found among the process's CPUs, not its own one
      next = sched_getcpu();
      cpu_set_t set;
      CPU_ZERO(&set);
      sched_getaffinity(0, sizeof set, &set);
      EXPECT_EQ(CPU_COUNT(&set), 1);
    }).join();
    EXPECT_EQ(cpu, next);
    seen.insert(cpu);
  }
  EXPECT_EQ(static_cast<int>(seen.size()), measure::allowed_cpus());
}

// Two packages of two cores with two threads each, numbered as Linux mostly does: a core's second
// thread far behind.
TEST(NeighboursTogether, OrdersByNodeThenCore) {
  std::string pattern = (std::filesystem::temp_directory_path() / "feedrate-cpus-XXXXXX").string();
  const std::filesystem::path root = mkdtemp(pattern.data());
  for (int cpu = 0; cpu < 8; ++cpu) {
    const auto folder = root / ("cpu" + std::to_string(cpu));
    std::filesystem::create_directories(folder / "topology");
    const int package = cpu % 4 / 2, core = cpu % 2;
    std::filesystem::create_directory(folder / ("node" + std::to_string(package)));
    std::ofstream(folder / "topology/physical_package_id") << package;
    std::ofstream(folder / "topology/core_id") << core;
  }
  EXPECT_EQ(measure::neighbours_together({0, 1, 2, 3, 4, 5, 6, 7}, root),
            std::vector<int>({0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(measure::neighbours_together({5, 1, 2}, root), std::vector<int>({1, 5, 2}));
  std::filesystem::remove_all(root);
  EXPECT_EQ(measure::neighbours_together({3, 1, 2}, root), std::vector<int>({1, 2, 3}))
      << "nothing is known of them";
}

}  // namespace
}  // namespace feedrate::tests
