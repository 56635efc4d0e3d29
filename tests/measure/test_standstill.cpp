#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "measure/clock.h"
#include "measure/standstill.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kStandstillMs = 1'000'000, kPeriod = 20 * kStandstillMs;

// Beats at the given moments; the process computes for `cpu` of the time on each of two CPUs.
class Heart {
 public:
  void beat(std::int64_t at_ms, double cpu = 1.0, std::int64_t asleep_ms = 0,
            std::int64_t waited_ms = 0) {
    const std::int64_t passed = at_ms * kStandstillMs - now_.monotonic_ns;
    now_.monotonic_ns += passed;
    now_.boottime_ns += passed + asleep_ms * kStandstillMs;
    now_.process_cpu_ns += static_cast<std::int64_t>(2 * cpu * static_cast<double>(passed));
    now_.cpu_wait_ns += waited_ms * kStandstillMs;
    finder.beat(now_);
  }
  double stopped_s() const { return finder.between(0, 1'000'000 * kStandstillMs).stopped_s; }

  measure::StandstillFinder finder{kPeriod, 2};

 private:
  measure::StandstillFinder::Beat now_;
};

TEST(Standstill, AHeartThatBeatsSaysNothing) {
  Heart heart;
  for (int at = 0; at < 2000; at += 21) heart.beat(at);
  EXPECT_EQ(heart.stopped_s(), 0);
}

TEST(Standstill, ALateBeatWithoutCpuTimeIsOne) {
  Heart heart;
  heart.beat(0);
  heart.beat(20);
  heart.beat(3020, 0.001);
  heart.beat(3040);
  EXPECT_NEAR(heart.stopped_s(), 2.98, 1e-9);
  EXPECT_NEAR(heart.finder.between(0, 1020 * kStandstillMs).stopped_s, 0.98, 1e-9)
      << "cut to the window";
  EXPECT_EQ(heart.finder.between(3040 * kStandstillMs, 4000 * kStandstillMs).stopped_s, 0);
}

TEST(Standstill, ThreadsThatLeaveTheHeartNoCpuAreNone) {
  Heart heart;
  heart.beat(0);
  heart.beat(600, 0.9);
  EXPECT_EQ(heart.stopped_s(), 0);
}

// Others took the CPUs, or a quota was used up: the heart was ready.
TEST(Standstill, AHeartThatWaitsForACpuIsNone) {
  Heart heart;
  heart.beat(0);
  heart.beat(600, 0, 0, 520);
  EXPECT_EQ(heart.stopped_s(), 0);
  heart.beat(1200, 0, 0, 100);
  EXPECT_NEAR(heart.stopped_s(), 0.58, 1e-9);
}

TEST(Standstill, AnIdleProcessThatBeatsInTimeIsNone) {
  Heart heart;
  for (int at = 0; at < 5000; at += 25) heart.beat(at, 0);
  EXPECT_EQ(heart.stopped_s(), 0);
}

// The clock of the steps does not count the time in which the machine slept.
TEST(Standstill, AMachineThatSleptIsSeenByItsOtherClock) {
  Heart heart;
  heart.beat(0);
  heart.beat(20);
  heart.beat(40, 1.0, 7000);
  heart.beat(60);
  const measure::Standstills all = heart.finder.between(0, 100 * kStandstillMs);
  EXPECT_EQ(all.stopped_s, 0);
  EXPECT_NEAR(all.suspended_s, 7, 1e-9);
  EXPECT_EQ(heart.finder.between(50 * kStandstillMs, 100 * kStandstillMs).suspended_s, 0);
}

// Stops a process for half a second while it computes or sleeps, and has it say what it saw.
double seen_by_a_stopped_process(bool busy) {
  int answer[2];
  EXPECT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  if (child == 0) {
    double seen = 0;
    {
      measure::StandstillMonitor monitor;
      const std::int64_t start = measure::now_ns();
      std::jthread worker([&](std::stop_token stop) {
        while (busy && !stop.stop_requested()) {
        }
      });
      measure::sleep_until_ns(start + 1500 * kStandstillMs);
      seen = monitor.between(start, measure::now_ns()).stopped_s;
    }
    _exit(write(answer[1], &seen, sizeof seen) == sizeof seen ? 0 : 1);
  }
  measure::sleep_until_ns(measure::now_ns() + 300 * kStandstillMs);
  kill(child, SIGSTOP);
  const std::int64_t stopped = measure::now_ns();
  measure::sleep_until_ns(stopped + 800 * kStandstillMs);
  const double lasted = measure::seconds(measure::now_ns() - stopped);
  kill(child, SIGCONT);
  double seen = -1;
  EXPECT_EQ(read(answer[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  waitpid(child, nullptr, 0);
  close(answer[0]), close(answer[1]);
  EXPECT_LT(seen, lasted + 0.3);
  return seen;
}

TEST(Standstill, AStoppedProcessSeesIt) {
  for (const bool busy : {true, false})
    EXPECT_GT(seen_by_a_stopped_process(busy), 0.7) << (busy ? "busy" : "asleep");
}

}  // namespace
}  // namespace feedrate::tests
