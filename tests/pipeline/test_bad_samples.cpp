#include "pipeline/bad_samples.h"

#include <gmock/gmock.h>

namespace feedrate::tests {
namespace {

TEST(BadSamples, APictureThatIsDrawnAgainIsOnePicture) {
  pipeline::BadSamples bad;
  for (int epoch = 0; epoch < 3; ++epoch) bad.add(7, "7: cut off", true);
  bad.add(3, "3: cut off", true);
  const pipeline::BadTotals totals = bad.totals();
  EXPECT_EQ(totals.count, 4);
  EXPECT_THAT(totals.pictures, testing::ElementsAre(3, 7));
  EXPECT_EQ(totals.first(), "3: cut off") << "in the dataset's order";
}

// Else one draw into a damaged stretch would count all of it.
TEST(BadSamples, WhatWasTriedInAnothersPlaceIsNoneOfTheDrawnOnes) {
  pipeline::BadSamples bad;
  bad.add(7, "7: cut off", true);
  for (int sample = 8; sample < 40; ++sample) bad.add(sample, "bad", false);
  EXPECT_EQ(bad.totals().count, 33);
  EXPECT_THAT(bad.totals().pictures, testing::ElementsAre(7));
}

TEST(BadSamples, NamesTheFirstTwenty) {
  pipeline::BadSamples bad;
  for (int sample = 0; sample < 100; ++sample) bad.add(sample, "bad", true);
  EXPECT_EQ(bad.totals().named.size(), 20u);
  EXPECT_EQ(bad.totals().pictures.size(), 100u);
}

TEST(BadTotals, ProcessesThatMetTheSamePictureMetOne) {
  pipeline::BadTotals all;
  all += {.count = 2, .drawn = 60, .of = 100, .pictures = {1, 8}, .named = {{1, "a"}, {8, "b"}}};
  EXPECT_EQ(all.different_drawn(), 60);
  all += {.count = 1, .drawn = 60, .of = 100, .pictures = {8}, .named = {{8, "b"}}};
  EXPECT_EQ(all.count, 3);
  EXPECT_THAT(all.pictures, testing::ElementsAre(1, 8));
  EXPECT_EQ(all.named.size(), 2u);
  EXPECT_EQ(all.different_drawn(), 100) << "the second epoch has begun";
  pipeline::BadTotals many{.of = 100};
  for (int sample = 20; sample < 40; ++sample) many.named[sample] = "c";
  all += many;
  EXPECT_EQ(all.named.size(), 20u);
  EXPECT_EQ(all.named.rbegin()->first, 37);
}

}  // namespace
}  // namespace feedrate::tests
