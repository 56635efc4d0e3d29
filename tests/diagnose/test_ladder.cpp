#include <gtest/gtest.h>

#include "diagnose/ladder.h"

namespace feedrate {
namespace {

TEST(Ladder, IsTheDifferenceOfStepTimes) {
  const auto rungs = ladder({{"synthetic", 1000}, {"device", 800}, {"host", 800}, {"sample", 500}, {"encoded", 100}, {"warm", 80}}, 100);
  ASSERT_EQ(rungs.size(), 5u);
  const std::pair<const char*, double> expected[] = {{"normalise", 25}, {"copy", 0}, {"collate", 75}, {"decode+augment", 800}, {"read", 250}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(rungs[i].stage, expected[i].first);
    EXPECT_NEAR(rungs[i].ms_per_step, expected[i].second, 1e-9);
  }
}

TEST(Ladder, LeavesOutWhatWasNotMeasured) {
  EXPECT_EQ(ladder({{"synthetic", 1000}, {"host", 900}, {"warm", 80}, {"cold", 50}}, 10).size(), 1u);
}

}  // namespace
}  // namespace feedrate
