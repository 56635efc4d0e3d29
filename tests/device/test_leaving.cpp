#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <semaphore>

#include "device/leaving.h"

namespace feedrate::tests {
namespace {

using namespace std::chrono_literals;

// A driver's queue that is full of what waits for other ranks: a launch returns once they are
// abandoned.
class FullQueue {
 public:
  void launch() {
    entered_.release();
    freed_.acquire();
  }
  void wait_for_launch() { entered_.acquire(); }
  void free() { freed_.release(); }

 private:
  std::binary_semaphore entered_{0}, freed_{0};
};

// Steps as a GPU's accelerator makes them: captured or not.
void step(device::Leaving& leaving, bool captures, const std::function<void()>& launch) {
  leaving.check();
  captures ? leaving.capture(launch) : launch();
}

TEST(Leaving, FreesAStepThatTheDriverHolds) {
  FullQueue queue;
  device::Leaving leaving("cuda:0");
  auto stepping = std::async(std::launch::async,
                             [&] { step(leaving, /*captures=*/false, [&] { queue.launch(); }); });
  queue.wait_for_launch();
  leaving.leave([&] { queue.free(); });
  const bool ended = stepping.wait_for(10s) == std::future_status::ready;
  EXPECT_TRUE(ended) << "the step waits for the exchange, and that for the step";
  if (!ended) queue.free();
  EXPECT_TRUE(leaving.has_left());
}

TEST(Leaving, LetsACaptureEndFirst) {
  std::binary_semaphore begun{0}, may_end{0};
  std::atomic<bool> captured = false, abandoned_meanwhile = false;
  device::Leaving leaving("cuda:0");
  auto stepping = std::async(std::launch::async, [&] {
    step(leaving, /*captures=*/true, [&] {
      begun.release();
      may_end.acquire();
      captured = true;
    });
  });
  begun.acquire();
  std::promise<void> abandoned;
  leaving.leave([&] {
    abandoned_meanwhile = !captured;
    abandoned.set_value();
  });
  std::future<void> when_abandoned = abandoned.get_future();
  EXPECT_EQ(when_abandoned.wait_for(50ms), std::future_status::timeout);
  may_end.release();
  when_abandoned.wait();
  EXPECT_FALSE(abandoned_meanwhile);
}

TEST(Leaving, NoStepIsMadeAfterwards) {
  device::Leaving leaving("cuda:0");
  int times = 0;
  leaving.leave([&] { ++times; });
  leaving.leave([&] { ++times; });
  for (const bool captures : {false, true}) {
    try {
      step(leaving, captures, [] { FAIL() << "it was left"; });
      FAIL() << "it is to say so";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "cuda:0: was left");
    }
  }
}

}  // namespace
}  // namespace feedrate::tests
