#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "pipeline/bounded_queue.h"

namespace feedrate::tests {
namespace {

TEST(BoundedQueue, KeepsOrder) {
  pipeline::BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.put(i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.get(), i);
}

TEST(BoundedQueue, CloseWakesAWaitingConsumer) {
  pipeline::BoundedQueue<int> queue(1);
  std::jthread consumer([&] { EXPECT_FALSE(queue.get().has_value()); });
  queue.close();
}

TEST(BoundedQueue, CloseWakesAWaitingProducer) {
  pipeline::BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.put(1));
  std::jthread producer([&] { EXPECT_FALSE(queue.put(2)); });
  queue.close();
}

TEST(BoundedQueue, NothingIsLostBetweenManyThreads) {
  pipeline::BoundedQueue<int> queue(4);
  constexpr int kEach = 2000;
  std::atomic<long> sum{0};
  {
    std::vector<std::jthread> producers, consumers;
    for (int c = 0; c < 3; ++c) {
      consumers.emplace_back([&] {
        while (const auto item = queue.get()) {
          if (*item < 0) return;
          sum += *item;
        }
      });
    }
    for (int p = 0; p < 3; ++p) {
      producers.emplace_back([&] {
        for (int i = 1; i <= kEach; ++i) queue.put(i);
      });
    }
    producers.clear();
    for (int c = 0; c < 3; ++c) queue.put(-1);
  }
  EXPECT_EQ(sum, 3L * kEach * (kEach + 1) / 2);
}

}  // namespace
}  // namespace feedrate::tests
