#include <gtest/gtest.h>

#include "measure/clock.h"
#include "measure/delays.h"

namespace feedrate::tests {
namespace {

using measure::Place;

constexpr std::int64_t kDelayMs = 1'000'000;

TEST(Delays, AreSetForEachPlaceAlone) {
  measure::Delays delays;
  delays.set(Place::copy, {.ns = 7});
  delays.set(Place::step, {.ns = 9, .burns = true});
  EXPECT_EQ(delays.slept(Place::copy), 7);
  EXPECT_EQ(delays.burnt(Place::copy), 0);
  EXPECT_EQ(delays.slept(Place::step), 0);
  EXPECT_EQ(delays.burnt(Place::step), 9);
  EXPECT_EQ(delays.slept(Place::worker), 0);
  EXPECT_EQ(delays.burnt(Place::all_reduce), 0);
  EXPECT_EQ(delays.reads(), 0);
  delays.set(Place::storage, {.reads = 0.2});
  EXPECT_EQ(delays.reads(), 0.2);
  delays.set(Place::storage, {});
  EXPECT_EQ(delays.reads(), 0);
  delays.set(Place::step, {});
  EXPECT_EQ(delays.burnt(Place::step), 0);
}

// One read of a worker stays, whatever share is withheld; without delays all do.
TEST(Delays, AShareOfTheReadsInFlightIsWithheld) {
  measure::Delays delays;
  EXPECT_EQ(delays.withheld(4), 0U);
  delays.set(Place::in_flight, {.withheld = 0.25});
  EXPECT_EQ(delays.withheld(4), 1U);
  EXPECT_EQ(delays.withheld(1), 0U);
  delays.set(Place::in_flight, {.withheld = 1});
  EXPECT_EQ(delays.withheld(4), 3U);
  delays.set(Place::in_flight, {});
  EXPECT_EQ(measure::withheld(&delays, 4), 0U);
  EXPECT_EQ(measure::withheld(nullptr, 4), 0U);
}

TEST(Delays, WhatIsPlantedStaysWhateverIsSet) {
  measure::Delays delays;
  delays.plant(Place::worker, 100);
  EXPECT_EQ(delays.slept(Place::worker), 100);
  delays.set(Place::worker, {.ns = 5});
  EXPECT_EQ(delays.slept(Place::worker), 105);
  delays.set(Place::worker, {.ns = 5, .burns = true});
  EXPECT_EQ(delays.slept(Place::worker), 100);
  EXPECT_EQ(delays.burnt(Place::worker), 5);
}

TEST(Delays, WhereThereAreNoneNothingIsDelayed) {
  EXPECT_EQ(measure::slept(nullptr, Place::step), 0);
  EXPECT_EQ(measure::burnt(nullptr, Place::step), 0);
  measure::DelayServer(nullptr).serve(Place::step);
}

// From call to return it sleeps what was asked for, less what it owed, plus what it owes now: so
// many short sleeps last their sum and what is owed at the end. This holds however late the kernel
// wakes the thread.
TEST(ExactSleep, TakesOffWhatWasSleptTooLong) {
  measure::ExactSleep sleep;
  constexpr std::int64_t kShort = kDelayMs / 10;
  const std::int64_t begin = measure::now_ns();
  for (int i = 0; i < 100; ++i) {
    const std::int64_t owed = sleep.owed_ns(), before = measure::now_ns();
    sleep.sleep(kShort);
    const std::int64_t lasted = sleep.owed_ns() - owed + kShort;
    EXPECT_GE(sleep.owed_ns(), 0) << "it never wakes too early";
    EXPECT_GE(lasted, 0);
    EXPECT_LE(lasted, measure::now_ns() - before);
  }
  EXPECT_GE(measure::now_ns() - begin, 100 * kShort + sleep.owed_ns());
}

TEST(ExactSleep, ADebtIsWorkedOffWithoutSleeping) {
  measure::ExactSleep sleep;
  sleep.sleep(-1000 * kDelayMs);  // as if it had slept a second too long
  const std::int64_t owed = sleep.owed_ns();
  EXPECT_GE(owed, 1000 * kDelayMs);
  const std::int64_t before = measure::now_ns();
  for (int i = 0; i < 9; ++i) sleep.sleep(100 * kDelayMs);
  const std::int64_t lasted = measure::now_ns() - before;
  EXPECT_GE(sleep.owed_ns(), owed - 900 * kDelayMs);
  EXPECT_LE(sleep.owed_ns(), owed - 900 * kDelayMs + lasted) << "what it lasted is owed, too";
}

TEST(ExactSleep, ZeroIsNoSleep) {
  measure::ExactSleep sleep;
  sleep.sleep(-5 * kDelayMs);
  const std::int64_t owed = sleep.owed_ns();
  sleep.sleep(0);
  EXPECT_EQ(sleep.owed_ns(), owed);
}

TEST(Burn, TakesCpuTime) {
  const std::int64_t cpu = measure::thread_cpu_ns();
  measure::burn(3 * kDelayMs);
  EXPECT_GE(measure::thread_cpu_ns() - cpu, 3 * kDelayMs);
}

TEST(DelayServer, SleepsAndBurnsAtItsPlace) {
  measure::Delays delays;
  measure::DelayServer server(&delays);
  delays.set(Place::copy, {.ns = 5 * kDelayMs});
  std::int64_t start = measure::now_ns();
  server.serve(Place::copy);
  EXPECT_GE(measure::now_ns() - start, 5 * kDelayMs);
  delays.set(Place::copy, {.ns = 5 * kDelayMs, .burns = true});
  const std::int64_t cpu = measure::thread_cpu_ns();
  server.serve(Place::copy);
  EXPECT_GE(measure::thread_cpu_ns() - cpu, 5 * kDelayMs);
}

}  // namespace
}  // namespace feedrate::tests
