#include "judge/bad_pictures.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "judge/flags.h"

namespace feedrate::tests {
namespace {

run::SkippedSamples skipped(std::int64_t pictures, std::int64_t drawn, std::int64_t of) {
  return {.count = 3 * pictures, .pictures = pictures, .drawn = drawn, .of = of};
}

TEST(BadPictures, WhatWasSeenWholeIsKnown) {
  EXPECT_DOUBLE_EQ(judge::least_bad_share(skipped(1, 10'000, 10'000), true), 0.0001);
  EXPECT_DOUBLE_EQ(judge::least_bad_share(skipped(7, 100, 100), true), 0.07);
  EXPECT_DOUBLE_EQ(judge::least_bad_share(skipped(100, 100, 100), true), 1);
  EXPECT_EQ(judge::least_bad_share({}, true), 0);
}

TEST(BadPictures, OfAPartTheLowerLimitCounts) {
  // One that happened to be among a fifth: all of the dataset may hold no other.
  EXPECT_DOUBLE_EQ(judge::least_bad_share(skipped(1, 2000, 10'000), true), 0.0001);
  // A twentieth of a tenth of the dataset: the rest cannot be so much better.
  EXPECT_NEAR(judge::least_bad_share(skipped(50, 1000, 10'000), true), 0.039, 0.001);
  // The exact limits of 1 and 2 in 2,000 are 0.0513 and 0.355 of 2,000.
  EXPECT_NEAR(judge::least_bad_share(skipped(1, 2000, 1'000'000'000), true), 0.0513 / 2000,
              0.012 / 2000);
  EXPECT_NEAR(judge::least_bad_share(skipped(2, 2000, 1'000'000'000), true), 0.355 / 2000,
              0.012 / 2000);
}

// The first thousand of a folder may all lie in a bad class.
TEST(BadPictures, PicturesInARowSayNothingOfTheOthers) {
  EXPECT_DOUBLE_EQ(judge::least_bad_share(skipped(50, 1000, 1'000'000), false), 0.00005);
}

TEST(BadPictures, AnUnknownNumberIsTheWorst) {
  EXPECT_EQ(judge::least_bad_share({.count = 1}, true), 1);
  EXPECT_EQ(judge::bad_pictures_text({.count = 1}, true),
            "skipped 1 time, the next one in its place");
}

TEST(BadPictures, TheTextSaysWhatWasFoundAndWhatFollows) {
  run::SkippedSamples bad = skipped(1, 2000, 10'000);
  bad.named = {"mine/a/1.jpg: cut off"};
  EXPECT_EQ(judge::bad_pictures_text(bad, true),
            "1 of the 2000 different pictures that were drawn is bad (0.05 %): of all 10000, "
            "0.01 % or more; skipped 3 times, the next one in its place; the first: "
            "mine/a/1.jpg: cut off");
}

// The severity, by the rules of the flag; "": it is not raised.
std::string severity_for(const run::SkippedSamples& bad) {
  run::CellResult result;
  result.measurement.emplace().bad = bad;
  const run::RunOptions options;
  const std::vector<std::string> differences;
  const judge::FlagFacts facts{result, options, {}, {}, {}, differences};
  std::string all;
  for (const judge::FlagRule& rule : judge::flag_rules()) {
    if (rule.name() != "bad_samples") continue;
    for (const judge::FlagRule::Raised& raised : rule.look(facts, rule))
      all += raised.serious ? "serious" : judge::name_of(rule.severity);
  }
  return all;
}

TEST(BadPictures, TheShareOfPicturesDecidesTheSeverity) {
  EXPECT_EQ(severity_for({}), "");
  EXPECT_EQ(severity_for(skipped(1, 10'000, 10'000)), "note") << "0.01 %";
  EXPECT_EQ(severity_for(skipped(1, 2000, 10'000)), "note") << "only a part was drawn";
  EXPECT_EQ(severity_for(skipped(2, 10'000, 10'000)), "warning");
  EXPECT_EQ(severity_for(skipped(1, 100, 100)), "warning") << "1 %";
  EXPECT_EQ(severity_for(skipped(2, 100, 100)), "serious");
  EXPECT_EQ(severity_for(skipped(50, 1000, 10'000)), "serious");
}

}  // namespace
}  // namespace feedrate::tests
