#include "pipeline/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

namespace feedrate::tests {
namespace {

using pipeline::Gate;
using namespace std::chrono_literals;

constexpr auto kAWhile = 50ms;
constexpr auto kPatience = 20s;

TEST(Gate, IsQuietOnceTheSampleInHandIsMade) {
  Gate gate;
  std::optional<Gate::Pass> sample(gate);
  gate.shut();
  EXPECT_FALSE(gate.is_quiet());
  sample.reset();
  EXPECT_TRUE(gate.is_quiet());
}

TEST(Gate, HoldsAWorkerUntilItIsOpen) {
  Gate gate;
  gate.shut();
  std::promise<void> inside, may_leave;
  auto is_inside = inside.get_future();
  std::jthread worker([&] {
    const Gate::Pass sample(gate);
    inside.set_value();
    may_leave.get_future().wait();
  });
  EXPECT_EQ(is_inside.wait_for(kAWhile), std::future_status::timeout);
  EXPECT_TRUE(gate.is_quiet());
  gate.open();
  EXPECT_EQ(is_inside.wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(gate.is_quiet());
  may_leave.set_value();
}

// Else a worker that has just found the gate open would be missed.
TEST(Gate, NobodyMakesASampleWhileItIsQuiet) {
  Gate gate;
  std::atomic<int> making{0};
  std::atomic<bool> is_over{false};
  const auto work = [&] {
    while (!is_over) {
      const Gate::Pass sample(gate);
      ++making;
      --making;
    }
  };
  std::jthread one(work), other(work);
  int seen = 0;
  for (int pause = 0; pause < 2000; ++pause) {
    gate.shut();
    while (!gate.is_quiet()) std::this_thread::yield();
    for (int look = 0; look < 20; ++look) seen += making;
    gate.open();
  }
  is_over = true;
  gate.remove();
  EXPECT_EQ(seen, 0);
}

}  // namespace
}  // namespace feedrate::tests
