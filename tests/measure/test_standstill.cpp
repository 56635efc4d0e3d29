#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <utility>

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

// A heart that beats every 10 ms and waits for CPUs now and then, as all do; stops of 50 ms.
class ShortStops {
 public:
  struct Late {
    double cpus = 0;  // that the process used meanwhile, but for what it did before
    std::int64_t waited_ms = 0, stolen_ms = 0, page_waits = 0;
  };

  // In time, for so long.
  void runs(std::int64_t ms) {
    for (std::int64_t at = 0; at < ms; at += 10) beat(10, cpus_, {.waited_ms = 0});
  }
  // A beat that comes 45 ms late: what stops begins within a period.
  void is_late(const Late& late, std::int64_t ms = 45) {
    beat(10 + ms, (5 * cpus_ + static_cast<double>(ms) * late.cpus) / static_cast<double>(10 + ms),
         late);
  }
  void stops_and_runs(int times, const Late& late) {
    for (int n = 0; n < times; ++n) is_late(late), runs(50);
  }
  double stopped_s() const { return finder_.between(0, now_.monotonic_ns).stopped_s; }
  explicit ShortStops(double cpus = 2) : cpus_(cpus) { runs(1000); }

 private:
  void beat(std::int64_t passed_ms, double cpus, const Late& late) {
    now_.monotonic_ns += passed_ms * kStandstillMs;
    now_.boottime_ns = now_.monotonic_ns;
    now_.process_cpu_ns +=
        static_cast<std::int64_t>(cpus * static_cast<double>(passed_ms * kStandstillMs));
    now_.cpu_wait_ns += late.waited_ms * kStandstillMs + 20'000;
    now_.stolen_ns = late.stolen_ms * kStandstillMs;
    now_.page_waits += late.page_waits;
    finder_.beat(now_);
  }

  const double cpus_;
  measure::StandstillFinder finder_{10 * kStandstillMs, 2};
  measure::StandstillFinder::Beat now_;
};

// As cpulimit does. Whether the process computes or waits for its storage.
TEST(Standstill, StopsOfFiftyMillisecondsAgainAndAgainAreOne) {
  for (const double cpus : {2.0, 0.05}) {
    ShortStops heart(cpus);
    heart.stops_and_runs(20, {});
    EXPECT_NEAR(heart.stopped_s(), 20 * 0.045, 1e-3) << cpus;
  }
}

TEST(Standstill, AFewLateBeatsAreNone) {
  ShortStops once, seldom;
  once.is_late({});
  EXPECT_EQ(once.stopped_s(), 0);
  for (int n = 0; n < 10; ++n) seldom.is_late({}), seldom.runs(2000);
  EXPECT_EQ(seldom.stopped_s(), 0) << "2 % of the time, as on many a virtual machine";
}

TEST(Standstill, WhatElseMakesAHeartLateIsNone) {
  const std::pair<const char*, ShortStops::Late> causes[] = {
      {"busy CPUs", {.waited_ms = 44}},
      {"the hypervisor", {.stolen_ms = 40}},  // known in steps of 10 ms
      {"the process ran on", {.cpus = 2}},
      {"pages that it waits for", {.page_waits = 1}}};
  for (const auto& [cause, late] : causes) {
    ShortStops heart;
    heart.stops_and_runs(20, late);
    EXPECT_EQ(heart.stopped_s(), 0) << cause;
  }
}

// Late beats of a process that uses hardly any CPU look like stops, but not for half of the time.
TEST(Standstill, AFewLateBeatsOfAnIdleProcessAreNone) {
  ShortStops idle(0.05), busy(2);
  for (ShortStops* heart : {&idle, &busy}) {
    for (int n = 0; n < 5; ++n)
      heart->is_late({.cpus = heart == &idle ? 0.05 : 0}, 25), heart->runs(400);
  }
  EXPECT_EQ(idle.stopped_s(), 0);
  EXPECT_NEAR(busy.stopped_s(), 5 * 0.025, 1e-3) << "4 % of the time";
}

// The hypervisor's part is a small one of what was stopped.
TEST(Standstill, ShortStopsOfABusyMachineAreSeen) {
  ShortStops heart;
  heart.stops_and_runs(20, {.waited_ms = 5, .stolen_ms = 10});
  EXPECT_NEAR(heart.stopped_s(), 20 * 0.045, 1e-3);
}

// Where the kernel does not count how long a thread waits for a CPU, busy CPUs look the same.
TEST(Standstill, ShortStopsAreUnseenWhereNobodyCountsWaits) {
  measure::StandstillFinder finder(10 * kStandstillMs, 2);
  measure::StandstillFinder::Beat now;
  for (int n = 0; n < 200; ++n) {
    now.monotonic_ns += (n % 5 == 4 ? 55 : 10) * kStandstillMs;
    now.boottime_ns = now.monotonic_ns;
    finder.beat(now);
  }
  EXPECT_EQ(finder.between(0, now.monotonic_ns).stopped_s, 0);
}

// What a process sees that computes or sleeps for 1.5 s, which `stop` stops meanwhile. That returns
// how long it did, in seconds.
template <typename Stop>
double seen_by_a_stopped_process(bool busy, const Stop& stop) {
  int answer[2];
  EXPECT_EQ(pipe(answer), 0);
  const pid_t child = fork();
  if (child == 0) {
    double seen = 0;
    {
      measure::StandstillMonitor monitor;
      const std::int64_t start = measure::now_ns();
      std::jthread worker([&](std::stop_token ended) {
        while (busy && !ended.stop_requested()) {
        }
      });
      measure::sleep_until_ns(start + 1500 * kStandstillMs);
      seen = monitor.between(start, measure::now_ns()).stopped_s;
    }
    _exit(write(answer[1], &seen, sizeof seen) == sizeof seen ? 0 : 1);
  }
  measure::sleep_until_ns(measure::now_ns() + 300 * kStandstillMs);
  const double lasted = stop(child);
  double seen = -1;
  EXPECT_EQ(read(answer[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  waitpid(child, nullptr, 0);
  close(answer[0]), close(answer[1]);
  EXPECT_LT(seen, lasted + 0.3);
  return seen;
}

// For so long, in seconds.
double stop_for(pid_t process, std::int64_t ms) {
  kill(process, SIGSTOP);
  const std::int64_t stopped = measure::now_ns();
  measure::sleep_until_ns(stopped + ms * kStandstillMs);
  const double lasted = measure::seconds(measure::now_ns() - stopped);
  kill(process, SIGCONT);
  return lasted;
}

TEST(Standstill, AStoppedProcessSeesIt) {
  const auto once = [](pid_t process) { return stop_for(process, 800); };
  for (const bool busy : {true, false})
    EXPECT_GT(seen_by_a_stopped_process(busy, once), 0.7) << (busy ? "busy" : "asleep");
}

TEST(Standstill, AProcessThatIsStoppedAgainAndAgainSeesIt) {
  const auto limit = [](pid_t process) {
    double all = 0;
    for (int n = 0; n < 8; ++n) {
      all += stop_for(process, 50);
      measure::sleep_until_ns(measure::now_ns() + 50 * kStandstillMs);
    }
    return all;
  };
  for (const bool busy : {true, false})
    EXPECT_GT(seen_by_a_stopped_process(busy, limit), 0.15) << (busy ? "busy" : "asleep");
}

}  // namespace
}  // namespace feedrate::tests
