#include <gtest/gtest.h>

#include <vector>

#include "train/decode_plan.h"

namespace feedrate::tests {
namespace {

using Pictures = std::vector<std::size_t>;

train::DecodePlan plan(std::vector<train::CanDecode> pictures, int share) {
  return train::plan_decoding(pictures, share);
}

std::vector<train::CanDecode> ten(train::CanDecode each) {
  return std::vector<train::CanDecode>(10, each);
}

TEST(DecodePlan, SharesABatchEvenly) {
  const train::CanDecode both{true, true};
  EXPECT_EQ(plan(ten(both), 100).engine.size(), 10u);
  EXPECT_EQ(plan(ten(both), 0).processors.size(), 10u);
  const train::DecodePlan third = plan(ten(both), 30);
  EXPECT_EQ(third.engine, (Pictures{3, 6, 9}));
  EXPECT_EQ(third.processors, (Pictures{0, 1, 2, 4, 5, 7, 8}));
}

TEST(DecodePlan, GivesEachPictureToOneThatTakesIt) {
  const train::DecodePlan mixed =
      plan({{true, true}, {false, true}, {true, false}, {false, false}}, 0);
  EXPECT_EQ(mixed.engine, (Pictures{2}));
  EXPECT_EQ(mixed.processors, (Pictures{0, 1}));
  EXPECT_EQ(mixed.host, (Pictures{3}));
  EXPECT_EQ(plan(ten({false, true}), 100).processors.size(), 10u) << "a GPU without the engine";
  EXPECT_EQ(plan(ten({false, false}), 100).host.size(), 10u);
}

}  // namespace
}  // namespace feedrate::tests
