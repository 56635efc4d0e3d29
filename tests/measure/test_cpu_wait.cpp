#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/cpu_wait.h"

namespace feedrate::tests {
namespace {

void compute_for(std::int64_t ns) {
  const std::int64_t end = measure::now_ns() + ns;
  while (measure::now_ns() < end) {
  }
}

// Four threads that compute on one CPU: each waits while the others run. What a thread sleeps, it
// does not wait.
TEST(CpuWait, CountsTheTimeWithoutACpuAndNoSleep) {
  std::vector<double> shares(4), asleep(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      threads.emplace_back([&, i] {
        measure::keep_to_cpus({measure::usable_cpus().front()});
        const measure::CpuWait wait;
        std::int64_t start = measure::now_ns(), before = wait.ns();
        compute_for(600'000'000);
        shares[i] = static_cast<double>(wait.ns() - before) /
                    static_cast<double>(measure::now_ns() - start);
        before = wait.ns();
        measure::sleep_until_ns(measure::now_ns() + 300'000'000);
        asleep[i] = static_cast<double>(wait.ns() - before) / 300e6;
      });
    }
  }
  if (measure::CpuWait().ns() == 0 && shares[0] == 0)
    GTEST_SKIP() << "no /proc/thread-self/schedstat";
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_GT(shares[i], 0.4) << "of four";
    EXPECT_LE(shares[i], 1.01);
    EXPECT_LT(asleep[i], 0.7);
  }
}

}  // namespace
}  // namespace feedrate::tests
