#include "text/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/expand.h"
#include "text/result_text.h"

namespace feedrate::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Describe, AWarmUpSaysSo) {
  const run::RunProgress p{.phase = run::Phase::warming,
                           .steps = 4,
                           .imgs_per_s = 1204,
                           .device_idle = 0.57,
                           .elapsed_s = 1.2,
                           .remaining_s = -1};
  EXPECT_EQ(text::describe(p, std::nullopt).front(),
            "warming up 1.2 s · 1,204 img/s · device waits 57 %");
}

TEST(Describe, AMeasurementShowsTheCeilingAndTheRest) {
  const run::RunProgress p{.phase = run::Phase::measuring,
                           .steps = 30,
                           .imgs_per_s = 500,
                           .device_idle = 0,
                           .elapsed_s = 3,
                           .remaining_s = 2};
  EXPECT_EQ(text::describe(p, 1000).front(),
            "measuring 3.0 s · 500 img/s · 50 % of the ceiling · device waits 0 % · 2 s left");
}

TEST(Describe, WaitsOfTheFirstOfSeveralDevicesAreLeftOut) {
  const run::RunProgress p{.phase = run::Phase::measuring,
                           .steps = 30,
                           .imgs_per_s = 4801,
                           .device_idle = -1,
                           .elapsed_s = 3,
                           .remaining_s = 2};
  const auto forms = text::describe(p, std::nullopt);
  EXPECT_EQ(forms.front(), "measuring 3.0 s · 4,801 img/s · 2 s left");
  for (const std::string& form : forms) EXPECT_THAT(form, Not(HasSubstr("waits")));
}

TEST(Describe, ACacheIsFilledBeforeTheWarmUp) {
  EXPECT_EQ(text::describe({.cached = 1204, .to_cache = 8192}, 1000).front(),
            "filling the cache · 1,204 of 8,192 samples · 15 %");
}

TEST(Describe, NoCeilingNoShare) {
  EXPECT_THAT(text::describe({.steps = 1}, 0).front(), Not(HasSubstr("ceiling")));
  EXPECT_THAT(text::describe({.steps = 1}, std::nullopt).front(), StartsWith("warming up"));
}

TEST(Describe, TheFirstStepIsNoRate) {
  const run::RunProgress first{.imgs_per_s = 0, .elapsed_s = 16.2, .remaining_s = -1};
  EXPECT_EQ(text::describe(first, 1000), text::LiveNumbers{"the first step took 16.2 s"});
}

TEST(Describe, BeforeTheFirstBlockHasEndedThereIsNoRate) {
  const run::RunProgress first{
      .phase = run::Phase::measuring, .elapsed_s = 0.2, .remaining_s = 4.8};
  EXPECT_EQ(
      text::describe(first, 1000, " · sweep 3 min left"),
      (text::LiveNumbers{"measuring 0.2 s · 5 s left · sweep 3 min left", "measuring 0.2 s"}));
}

TEST(Describe, OfTwoTimesASweepsIsTheLastToGo) {
  const run::RunProgress p{
      .phase = run::Phase::measuring, .steps = 4, .imgs_per_s = 500, .remaining_s = 2};
  const auto forms = text::describe(p, std::nullopt, " · sweep 3 min left");
  EXPECT_EQ(forms.back(), "500 img/s");
  EXPECT_EQ(forms[forms.size() - 2], "500 img/s · sweep 3 min left");
  EXPECT_EQ(forms[forms.size() - 4], "500 img/s · 2 s left · sweep 3 min left");
}

// What matters stays: the rate, the share, the time left. The label gives way.
TEST(LiveText, FitsIntoAnyTerminal) {
  const run::RunProgress p{.phase = run::Phase::measuring,
                           .steps = 90,
                           .imgs_per_s = 1500,
                           .device_idle = 0.41,
                           .elapsed_s = 3,
                           .remaining_s = 1.2};
  const auto numbers = text::describe(p, 3000);
  const std::string label = "[7/36] jpeg 224x224, 2 workers, input 224x224, EMULATED";
  EXPECT_EQ(text::live_text({label}, numbers, 200),
            label +
                ": measuring 3.0 s · 1,500 img/s · 50 % of the ceiling · device waits 41 % · "
                "2 s left");
  EXPECT_EQ(text::live_text({label}, numbers, 79),
            "[7/36] jpeg 224x224, 2 workers, in…: 1,500 img/s · 50 % · waits 41 % · 2 s left");
  EXPECT_EQ(text::live_text({label}, numbers, 40), "[7/36] j…: 1,500 img/s · 50 % · 2 s left");
  EXPECT_EQ(text::live_text({label}, numbers, 30), "1,500 img/s · 50 % · 2 s left");
  EXPECT_EQ(text::live_text({label}, numbers, 10), "1,500 img…");
  EXPECT_EQ(text::live_text({"short"}, {"1 img/s"}, 40), "short: 1 img/s");
}

// So do the workers, and that it is no GPU: what else tells the cell goes first.
TEST(LiveText, AShorterLabelComesBeforeOneThatIsCut) {
  const text::LiveNumbers numbers = text::describe({.phase = run::Phase::measuring,
                                                    .steps = 90,
                                                    .imgs_per_s = 1500,
                                                    .device_idle = 0.41,
                                                    .elapsed_s = 3,
                                                    .remaining_s = 1.2},
                                                   3000, " · sweep 12 min left");
  for (const bool names_device : {false, true}) {
    const auto cell = plan::expand({{"device", {"emulated:h200"}},
                                    {"data", {"jpeg"}},
                                    {"workers", {"16"}},
                                    {"gpus", {"4"}},
                                    {"image-size", {"500x375"}}})[0];
    text::LiveLabels labels = text::live_labels(cell, names_device);
    for (std::string& label : labels) label.insert(0, "[7/36] ");
    const std::string device = names_device ? "h200, " : "";
    EXPECT_EQ(text::live_text(labels, numbers, 79),
              "[7/36] " + device +
                  (names_device ? "jpeg 500x375, 16 workers, 4 GPUs, EMULATED: 1,500 img/s"
                                : "jpeg, 16 workers, 4 GPUs, EMULATED: 1,500 img/s · sweep 12 min "
                                  "left"));
    EXPECT_EQ(text::live_text(labels, numbers, 300), labels[0] + ": " + numbers[0]);
  }
}

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(PlainProgress, WhatBeginsIsALineAndACountOnlyWhereItTakesLong) {
  text::PlainProgress begins, counts;
  EXPECT_TRUE(begins.takes("preparing", /*is_count=*/false, 100 * kSecondNs));
  EXPECT_FALSE(begins.takes("measuring", /*is_count=*/false, 104 * kSecondNs)) << "too soon";
  EXPECT_TRUE(begins.takes("measuring", /*is_count=*/false, 105 * kSecondNs));
  EXPECT_FALSE(counts.takes("1/300", /*is_count=*/true, 100 * kSecondNs));
  EXPECT_FALSE(counts.takes("200/300", /*is_count=*/true, 104 * kSecondNs));
  EXPECT_TRUE(counts.takes("210/300", /*is_count=*/true, 105 * kSecondNs));
  EXPECT_FALSE(counts.takes("220/300", /*is_count=*/true, 109 * kSecondNs));
}

TEST(PlainProgress, WhatBeginsDoesNotWaitForACount) {
  text::PlainProgress progress;
  EXPECT_FALSE(progress.takes("1/300", /*is_count=*/true, 100 * kSecondNs));
  EXPECT_TRUE(progress.takes("preparing", /*is_count=*/false, 101 * kSecondNs));
}

TEST(PlainProgress, RepeatsNoLine) {
  text::PlainProgress progress;
  EXPECT_TRUE(progress.takes("listing photos", /*is_count=*/false, 100 * kSecondNs));
  EXPECT_FALSE(progress.takes("listing photos", /*is_count=*/false, 110 * kSecondNs));
  EXPECT_TRUE(progress.takes("listing photos · 64 files", /*is_count=*/true, 111 * kSecondNs));
}

TEST(Listing, CountsWhatItHasFound) {
  EXPECT_EQ(text::listing_text("photos", 12288), "listing photos · 12,288 files");
  EXPECT_EQ(text::listing_text("photos", 64), "listing photos · 64 files");
  EXPECT_EQ(text::listing_text("photos", 1), "listing photos · 1 file");
  EXPECT_EQ(text::listing_text("photos", 0), "listing photos") << "it goes on, and has none yet";
  EXPECT_EQ(text::listing_text("photos", 12288, 31'707),
            "listing photos · 12,288 files · 31,707/s");
}

TEST(Listing, HasARateAfterASecond) {
  text::ListingRate rate;
  EXPECT_EQ(rate.at(10 * kSecondNs, 100), 0);
  EXPECT_EQ(rate.at(11 * kSecondNs - 1, 600), 0);
  EXPECT_EQ(rate.at(12 * kSecondNs, 1100), 500);
  EXPECT_EQ(rate.at(14 * kSecondNs, 1100), 250) << "it has come to a halt";
  EXPECT_EQ(rate.at(15 * kSecondNs, 50), 0) << "another listing";
  EXPECT_EQ(rate.at(17 * kSecondNs, 250), 100);
}

}  // namespace
}  // namespace feedrate::tests
