#include "session/signs_of_life.h"

#include <gtest/gtest.h>

#include <thread>

#include "measure/clock.h"

namespace feedrate::tests {
namespace {

constexpr std::int64_t kWhileNs = 300'000'000;

void sleep_a_while() { measure::sleep_until_ns(measure::now_ns() + kWhileNs); }

TEST(SignsOfLife, NamesWhatWasBegunLastAndHasNotCome) {
  session::SignsOfLife signs("data");
  EXPECT_EQ(signs.silence().path, "data");
  signs.wait_for("data/before");
  signs.wait_for("data/a");
  EXPECT_EQ(signs.silence().path, "data/a");
  std::jthread([&] { signs.wait_for("data/b"); }).join();
  EXPECT_EQ(signs.silence().path, "data/b");
  std::jthread([&] {
    signs.wait_for("data/c");
    signs.go_on();
  }).join();
  EXPECT_NE(signs.silence().path, "data/c");
  signs.wait_for("data/d");
  EXPECT_EQ(signs.silence().path, "data/d");
}

TEST(SignsOfLife, SilenceLastsUntilSomethingIsDone) {
  session::SignsOfLife signs("data");
  signs.silence();
  sleep_a_while();
  EXPECT_GE(signs.silence().seconds, measure::seconds(kWhileNs) * 0.99);
  signs.alive();
  EXPECT_LT(signs.silence().seconds, measure::seconds(kWhileNs) * 0.5);
}

// A picture may take longer to encode than storage may take to answer.
TEST(SignsOfLife, TheCpuAtWorkIsOne) {
  session::SignsOfLife signs("data");
  signs.silence();
  const std::int64_t until = measure::now_ns() + kWhileNs;
  volatile int work = 0;
  while (measure::now_ns() < until) work = work + 1;
  EXPECT_LT(signs.silence().seconds, measure::seconds(kWhileNs) * 0.5);
}

// /proc lies on no disk, as a network file system does not.
TEST(SignsOfLife, WhoWaitsForADiskThatCountsNothingIsNotSilent) {
  session::SignsOfLife signs("data");
  signs.wait_for_disk("/proc");
  signs.silence();
  sleep_a_while();
  EXPECT_LT(signs.silence().seconds, measure::seconds(kWhileNs) * 0.5);
  signs.wait_for("data/a");
  sleep_a_while();
  EXPECT_GE(signs.silence().seconds, measure::seconds(kWhileNs) * 0.99);
}

}  // namespace
}  // namespace feedrate::tests
