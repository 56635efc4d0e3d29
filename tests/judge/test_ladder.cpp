#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/ladder.h"

namespace feedrate::tests {
namespace {

using judge::LadderRung;
using judge::Loss;
using judge::Round;

constexpr double kImagesPerStep = 10;

std::vector<std::string> steps_of(const std::vector<Loss>& losses) {
  std::vector<std::string> steps;
  for (const Loss& loss : losses) steps.push_back(loss.step);
  return steps;
}

TEST(Ladder, EachStepIsNamedByWhatItAdds) {
  const Round round = {
      {LadderRung::synthetic, 1000}, {LadderRung::device, 950},  {LadderRung::host, 900},
      {LadderRung::sample, 800},     {LadderRung::decoded, 600}, {LadderRung::encoded, 300},
      {LadderRung::none, 200},       {LadderRung::cold, 100},    {LadderRung::discard, 990}};
  const auto losses = judge::waterfall({round}, LadderRung::cold, kImagesPerStep);
  EXPECT_EQ(steps_of(losses), (std::vector<std::string>{"normalise", "copy", "collate", "augment",
                                                        "decode", "read", "storage"}))
      << "discard stands beside the ladder";
  double lost = 0;
  for (const Loss& loss : losses) lost += loss.imgs_per_s.mean;
  EXPECT_NEAR(lost, 900, 1e-9) << "from the ceiling to the bottom";
}

TEST(Ladder, ALossInItsClosedForm) {
  const auto loss = judge::loss_between(
      {{{LadderRung::synthetic, 1000}, {LadderRung::decoded, 500}, {LadderRung::encoded, 250}}},
      LadderRung::decoded, LadderRung::encoded, kImagesPerStep);
  ASSERT_TRUE(loss);
  EXPECT_NEAR(loss->imgs_per_s.mean, 250, 1e-9);
  EXPECT_NEAR(loss->share.mean, 0.25, 1e-9) << "of the ceiling";
  EXPECT_NEAR(loss->ms_per_step.mean, 40 - 20, 1e-9);
  EXPECT_FALSE(loss->imgs_per_s.ci95) << "one round";
}

TEST(Ladder, EndsAtTheCellsOwnRung) {
  const Round round = {
      {LadderRung::synthetic, 1000}, {LadderRung::none, 200}, {LadderRung::cold, 100}};
  const auto losses = judge::waterfall({round}, LadderRung::none, kImagesPerStep);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses.front().to, LadderRung::none) << "a warm cell does not pay for storage";
}

TEST(Ladder, AStepOverAMissingRungNamesAllThatItAdds) {
  const auto losses = judge::waterfall(
      {{{LadderRung::synthetic, 1000}, {LadderRung::sample, 800}, {LadderRung::encoded, 300}}},
      LadderRung::cold, kImagesPerStep);
  EXPECT_EQ(steps_of(losses),
            (std::vector<std::string>{"normalise and copy and collate", "augment and decode"}));
  EXPECT_EQ(losses[1].from, LadderRung::sample);
  EXPECT_EQ(losses[1].to, LadderRung::encoded);
}

TEST(Ladder, ALowerRungMayBeFaster) {
  const auto losses =
      judge::waterfall({{{LadderRung::synthetic, 1000}, {LadderRung::device, 1010}}},
                       LadderRung::cold, kImagesPerStep);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NEAR(losses[0].imgs_per_s.mean, -10, 1e-9);
  EXPECT_LT(losses[0].share.mean, 0);
  EXPECT_LT(losses[0].ms_per_step.mean, 0);
}

// The machine has half of its speed in the second round: what decoding costs is of each round
// alone.
TEST(Ladder, OnlyRatesOfOneRoundAreCompared) {
  const std::vector<Round> rounds = {{{LadderRung::decoded, 800}, {LadderRung::encoded, 400}},
                                     {{LadderRung::decoded, 400}, {LadderRung::encoded, 200}},
                                     {{LadderRung::decoded, 100}}};
  const auto loss =
      judge::loss_between(rounds, LadderRung::decoded, LadderRung::encoded, kImagesPerStep);
  ASSERT_TRUE(loss);
  EXPECT_NEAR(loss->imgs_per_s.mean, (400 + 200) / 2.0, 1e-9);
  EXPECT_NEAR(loss->share.mean, 0.5, 1e-9) << "of the upper rung, where the ceiling is missing";
  EXPECT_FALSE(judge::loss_between(rounds, LadderRung::decoded, LadderRung::cold, kImagesPerStep));
}

TEST(Ladder, ThreeRoundsGiveAnInterval) {
  std::vector<Round> rounds;
  for (const double below : {390, 400, 410})
    rounds.push_back({{LadderRung::synthetic, 1000}, {LadderRung::none, below}});
  const auto loss =
      judge::loss_between(rounds, LadderRung::synthetic, LadderRung::none, kImagesPerStep);
  ASSERT_TRUE(loss && loss->imgs_per_s.ci95);
  EXPECT_NEAR(loss->imgs_per_s.mean, 600, 1e-9);
  EXPECT_NEAR(loss->imgs_per_s.ci95->high - 600, 4.303 * 10 / 1.7320508, 1e-2);
}

TEST(Ladder, ARungOfNoRoundHasNoRate) {
  const std::vector<Round> rounds = {{{LadderRung::none, 100}}, {{LadderRung::none, 300}}};
  EXPECT_FALSE(judge::rate_of(rounds, LadderRung::cold));
  EXPECT_NEAR(judge::rate_of(rounds, LadderRung::none)->mean, 200, 1e-9);
  EXPECT_TRUE(judge::waterfall(rounds, LadderRung::cold, kImagesPerStep).empty())
      << "nothing above it";
}

TEST(Ladder, NamesAreThoseOfTheCaches) {
  EXPECT_EQ(judge::name_of(LadderRung::encoded), "encoded");
  EXPECT_EQ(judge::name_of(LadderRung::discard), "discard");
  EXPECT_EQ(judge::added_by(LadderRung::cold), "storage");
  EXPECT_EQ(judge::added_by(LadderRung::synthetic), "");
}

}  // namespace
}  // namespace feedrate::tests
