#include <gtest/gtest.h>

#include <cstdint>

#include "measure/clock.h"
#include "measure/stages.h"

namespace feedrate::tests {
namespace {

using measure::Stage;

// Laps of one stage, each of which is `work`, with `between` before it.
template <typename Work, typename Between>
measure::StageTotals time_laps(int laps, const Work& work, const Between& between) {
  measure::StageCounters counters;
  measure::StageTimer timer(counters);
  timer.expect_only(Stage::read);
  for (int i = 0; i < laps; ++i) {
    between();
    timer.start();
    work();
    timer.lap(Stage::read, 100);
  }
  return counters.snapshot();
}

void burn(std::int64_t ns) {
  const std::int64_t end = measure::thread_cpu_ns() + ns;
  while (measure::thread_cpu_ns() < end) {
  }
}
void sleep(std::int64_t ns) { measure::sleep_until_ns(measure::now_ns() + ns); }
void nothing() {}

TEST(StageTimer, CountsTheCpuTimeOfShortLapsTogether) {
  constexpr int kLaps = 1000;
  constexpr std::int64_t kNs = 20'000;
  const auto totals = time_laps(kLaps, [] { burn(kNs); }, nothing)[Stage::read];
  EXPECT_EQ(totals.items, kLaps);
  EXPECT_EQ(totals.bytes, 100 * kLaps);
  EXPECT_LE(totals.cpu_ns, totals.wall_ns);
  EXPECT_GT(totals.cpu_ns, kLaps * kNs / 2);
}

// Whatever the thread computes between two laps is none of the stage's.
TEST(StageTimer, CountsNoCpuTimeOfLapsThatSleep) {
  constexpr int kLaps = 20;
  const auto totals =
      time_laps(kLaps, [] { sleep(2'000'000); }, [] { burn(20'000'000 / kLaps); })[Stage::read];
  EXPECT_EQ(totals.items, kLaps);
  EXPECT_EQ(totals.bytes, 100 * kLaps);
  EXPECT_GE(totals.wall_ns, kLaps * 2'000'000);
  EXPECT_LT(totals.cpu_ns, totals.wall_ns / 4);
}

}  // namespace
}  // namespace feedrate::tests
