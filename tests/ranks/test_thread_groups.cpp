#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "device/group.h"
#include "ranks/thread_groups.h"

namespace feedrate::tests {
namespace {

TEST(ThreadGroup, ReducesOverAllRanksRoundAfterRound) {
  constexpr int kRanks = 4, kRounds = 500;
  const auto groups = ranks::make_thread_groups(kRanks);
  std::vector<std::jthread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&, r] {
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(groups[r]->all_reduce_latest(10 * round + r), 10 * round + kRanks - 1);
        EXPECT_EQ(groups[r]->all_gather(100 * round + r),
                  (std::vector<std::int64_t>{100 * round, 100 * round + 1, 100 * round + 2,
                                             100 * round + 3}));
        EXPECT_EQ(groups[r]->all_reduce_latest(-round - r), -round);
        EXPECT_EQ(groups[r]->broadcast_number(round - r), round);
      }
    });
  }
}

TEST(ThreadGroup, AbortWakesWhoWaits) {
  const auto groups = ranks::make_thread_groups(2);
  std::jthread waiting([&] { EXPECT_THROW(groups[0]->barrier(), Error); });
  groups[1]->abort();
  EXPECT_THROW(groups[1]->barrier(), Error);
}

}  // namespace
}  // namespace feedrate::tests
