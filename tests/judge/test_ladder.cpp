#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "judge/ladder.h"

namespace feedrate::tests {
namespace {

using judge::Loss;
using judge::Round;
using judge::Rung;

constexpr double kImagesPerStep = 10;

std::vector<std::string> steps_of(const std::vector<Loss>& losses) {
  std::vector<std::string> steps;
  for (const Loss& loss : losses) steps.push_back(loss.step);
  return steps;
}

TEST(Ladder, EachStepIsNamedByWhatItAdds) {
  const Round round = {{Rung::synthetic, 1000}, {Rung::device, 950},  {Rung::host, 900},
                       {Rung::sample, 800},     {Rung::decoded, 600}, {Rung::encoded, 300},
                       {Rung::none, 200},       {Rung::cold, 100},    {Rung::discard, 990}};
  const auto losses = judge::waterfall({round}, Rung::cold, kImagesPerStep);
  EXPECT_EQ(steps_of(losses), (std::vector<std::string>{"normalise", "copy", "collate", "augment",
                                                        "decode", "read", "storage"}))
      << "discard stands beside the ladder";
  double lost = 0;
  for (const Loss& loss : losses) lost += loss.imgs_per_s.mean;
  EXPECT_NEAR(lost, 900, 1e-9) << "from the ceiling to the bottom";
}

TEST(Ladder, ALossInItsClosedForm) {
  const auto loss =
      judge::loss_between({{{Rung::synthetic, 1000}, {Rung::decoded, 500}, {Rung::encoded, 250}}},
                          Rung::decoded, Rung::encoded, kImagesPerStep);
  ASSERT_TRUE(loss);
  EXPECT_NEAR(loss->imgs_per_s.mean, 250, 1e-9);
  EXPECT_NEAR(loss->share.mean, 0.25, 1e-9) << "of the ceiling";
  EXPECT_NEAR(loss->ms_per_step.mean, 40 - 20, 1e-9);
  EXPECT_FALSE(loss->imgs_per_s.ci95) << "one round";
}

TEST(Ladder, EndsAtTheCellsOwnRung) {
  const Round round = {{Rung::synthetic, 1000}, {Rung::none, 200}, {Rung::cold, 100}};
  const auto losses = judge::waterfall({round}, Rung::none, kImagesPerStep);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses.front().to, Rung::none) << "a warm cell does not pay for storage";
}

TEST(Ladder, AStepOverAMissingRungNamesAllThatItAdds) {
  const auto losses =
      judge::waterfall({{{Rung::synthetic, 1000}, {Rung::sample, 800}, {Rung::encoded, 300}}},
                       Rung::cold, kImagesPerStep);
  EXPECT_EQ(steps_of(losses),
            (std::vector<std::string>{"normalise and copy and collate", "augment and decode"}));
  EXPECT_EQ(losses[1].from, Rung::sample);
  EXPECT_EQ(losses[1].to, Rung::encoded);
}

TEST(Ladder, ALowerRungMayBeFaster) {
  const auto losses = judge::waterfall({{{Rung::synthetic, 1000}, {Rung::device, 1010}}},
                                       Rung::cold, kImagesPerStep);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_NEAR(losses[0].imgs_per_s.mean, -10, 1e-9);
  EXPECT_LT(losses[0].share.mean, 0);
  EXPECT_LT(losses[0].ms_per_step.mean, 0);
}

// The machine has half of its speed in the second round: what decoding costs is of each round
// alone.
TEST(Ladder, OnlyRatesOfOneRoundAreCompared) {
  const std::vector<Round> rounds = {{{Rung::decoded, 800}, {Rung::encoded, 400}},
                                     {{Rung::decoded, 400}, {Rung::encoded, 200}},
                                     {{Rung::decoded, 100}}};
  const auto loss = judge::loss_between(rounds, Rung::decoded, Rung::encoded, kImagesPerStep);
  ASSERT_TRUE(loss);
  EXPECT_NEAR(loss->imgs_per_s.mean, (400 + 200) / 2.0, 1e-9);
  EXPECT_NEAR(loss->share.mean, 0.5, 1e-9) << "of the upper rung, where the ceiling is missing";
  EXPECT_FALSE(judge::loss_between(rounds, Rung::decoded, Rung::cold, kImagesPerStep));
}

TEST(Ladder, ThreeRoundsGiveAnInterval) {
  std::vector<Round> rounds;
  for (const double below : {390, 400, 410})
    rounds.push_back({{Rung::synthetic, 1000}, {Rung::none, below}});
  const auto loss = judge::loss_between(rounds, Rung::synthetic, Rung::none, kImagesPerStep);
  ASSERT_TRUE(loss && loss->imgs_per_s.ci95);
  EXPECT_NEAR(loss->imgs_per_s.mean, 600, 1e-9);
  EXPECT_NEAR(loss->imgs_per_s.ci95->high - 600, 4.303 * 10 / 1.7320508, 1e-2);
}

TEST(Ladder, ARungOfNoRoundHasNoRate) {
  const std::vector<Round> rounds = {{{Rung::none, 100}}, {{Rung::none, 300}}};
  EXPECT_FALSE(judge::rate_of(rounds, Rung::cold));
  EXPECT_NEAR(judge::rate_of(rounds, Rung::none)->mean, 200, 1e-9);
  EXPECT_TRUE(judge::waterfall(rounds, Rung::cold, kImagesPerStep).empty()) << "nothing above it";
}

TEST(Ladder, NamesAreThoseOfTheCaches) {
  EXPECT_EQ(judge::name_of(Rung::encoded), "encoded");
  EXPECT_EQ(judge::name_of(Rung::discard), "discard");
  EXPECT_EQ(judge::added_by(Rung::cold), "storage");
  EXPECT_EQ(judge::added_by(Rung::synthetic), "");
}

}  // namespace
}  // namespace feedrate::tests
