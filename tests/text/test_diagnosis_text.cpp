#include "text/diagnosis_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/expand.h"
#include "tests/judge/made_up_evidence.h"

namespace feedrate::tests {
namespace {

using judge::LadderRung;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// In one line: paragraphs are broken where a terminal's line ends.
std::string printed(const MadeUpEvidence& made_up, const std::vector<judge::Remedy>& advice = {},
                    int interrupted_of = 0) {
  testing::internal::CaptureStdout();
  text::print_diagnosis(
      false,
      {.of = {.cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).at(0),
              .device = "a device",
              .seconds = 9,
              .advice = advice,
              .interrupted_of = interrupted_of},
       .evidence = made_up.evidence,
       .diagnosis = made_up.diagnosis()});
  std::string line;
  for (const char c : testing::internal::GetCapturedStdout()) {
    const bool is_blank = c == ' ' || c == '\n';
    if (!is_blank || !line.ends_with(' ')) line += is_blank ? ' ' : c;
  }
  return line;
}

TEST(DiagnosisText, WhatNobodyMeasuredHasNoNumber) {
  MadeUpEvidence made_up;
  made_up.slope(measure::Place::copy, false, 0.4, 0.8).slope(measure::Place::step, false, 0);
  const std::string text = printed(made_up);
  EXPECT_THAT(text, HasSubstr("likely: copy (link) "));
  EXPECT_THAT(text, Not(HasSubstr("decode (workers)"))) << text;
  EXPECT_THAT(text, Not(HasSubstr("50 %"))) << text;
}

TEST(DiagnosisText, SaysWhichDecoderWasMeasured) {
  EXPECT_THAT(printed({}),
              HasSubstr("decoder: feedrate's own for common files, skipping what lies"));
}

TEST(DiagnosisText, SaysAfterHowManyRoundsItWasInterrupted) {
  EXPECT_THAT(printed({}), AllOf(HasSubstr(" 3 rounds in 9 s: "), Not(HasSubstr("interrupted"))));
  EXPECT_THAT(printed({}, {}, 5), HasSubstr(" interrupted after 3 of 5 rounds in 9 s: "));
}

TEST(DiagnosisText, OfAnInterruptedFirstRoundItSaysWhatWasMeasured) {
  session::FirstRoundSoFar measured{
      .cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).at(0),
      .ceiling_imgs_per_s = 1000};
  const std::string begins = "DO NOT QUOTE: interrupted before the first round was whole\nso far: ";
  EXPECT_EQ(text::first_round_text(measured),
            begins + measured.cell.label() +
                ": its ceiling is 1,000 img/s, and it was not measured yet\n");
  measured.device = "a device", measured.imgs_per_s = 640, measured.device_idle = 0.36;
  EXPECT_THAT(text::first_round_text(measured),
              AllOf(StartsWith(begins + "jpeg"),
                    EndsWith(" on a device: 640 img/s, 64.0 % of its ceiling of 1,000 img/s; the "
                             "device waited 36 % of the time\n")));
  measured.ceiling_imgs_per_s = 0;
  EXPECT_THAT(text::first_round_text(measured),
              EndsWith(" on a device: 640 img/s; the device waited 36 % of the time\n"));
}

TEST(DiagnosisText, SaysWhereDelaysHadOtherBatches) {
  MadeUpEvidence made_up;
  made_up.slope(measure::Place::step, false, 0.9);
  EXPECT_THAT(printed(made_up), Not(HasSubstr("with batches of")));
  made_up.evidence.servers.images_per_step = 5;
  EXPECT_THAT(printed(made_up), HasSubstr("delays: with batches of 5, not the cell's 10, so that"));
}

TEST(DiagnosisText, OnePairIsNoLikelihood) {
  MadeUpEvidence made_up;
  made_up.evidence.rounds[0].pairs = {
      pair_of(measure::Place::worker, false, 1, made_up.evidence.servers)};
  const std::string text = printed(made_up);
  EXPECT_THAT(text, Not(HasSubstr("likely:")));
  EXPECT_THAT(text, HasSubstr("the delays nothing"));
}

TEST(DiagnosisText, KindsOfEvidenceDoNotAgreeOnWhatIsNotClear) {
  MadeUpEvidence made_up;
  made_up.slope(measure::Place::worker, false, 0.6, 0.8)
      .slope(measure::Place::step, false, 0.5, 0.8)
      .slope(measure::Place::copy, false, 0)
      .capacity("loader", "decode");
  made_up.rate(LadderRung::decoded, 900).rate(LadderRung::encoded, 210);
  EXPECT_THAT(printed(made_up),
              AllOf(HasSubstr("not clear between "), HasSubstr("the evidence does not tell which"),
                    Not(HasSubstr("evidence agree"))));
}

TEST(DiagnosisText, SaysWhichNumbersOfWorkersMayBeEnough) {
  judge::Remedy remedy{.name = "more workers", .changes = {}, .why = {}, .predicted = {}};
  const auto said = [&](double low, double high) {
    const measure::Estimate few{480, measure::Interval{470, 490}},
        enough{800, measure::Interval{low, high}}, more{801, measure::Interval{798, 804}};
    remedy.by_workers = {{3, few}, {5, enough}, {8, more}};
    return printed({}, {remedy});
  };
  EXPECT_THAT(said(798, 802), HasSubstr("measured by workers: 3: 480, 5: 800, 8: 801; W* is 5 "
                                        "(95 %: 5 alone, of those tried)"));
  EXPECT_THAT(said(700, 802), HasSubstr("W* is 5 (95 %: 5 or more, of those tried)"));
  remedy.by_workers[3] = {480, measure::Interval{100, 790}};
  remedy.by_workers[5] = {800, measure::Interval{798, 802}};
  EXPECT_THAT(printed({}, {remedy}), HasSubstr("W* is 5 (95 %: 3 to 5, of those tried)"));
  remedy.by_workers[8].ci95.reset();
  EXPECT_THAT(printed({}, {remedy}), HasSubstr("W* is 5 (no interval below 3 runs)"));
}

TEST(DiagnosisText, ARungThatIsNoiseIsMarked) {
  MadeUpEvidence made_up;
  made_up.slopes({.worker = 1, .burnt = 1}).rate(LadderRung::cpus, 130);
  EXPECT_THAT(printed(made_up),
              HasSubstr("noise: loaders alone, one for each CPU: 130 img/s, less than the 200 of "
                        "the cell itself, which does more"));
}

TEST(DiagnosisText, ASlopeOfNothingHasNoSign) {
  MadeUpEvidence made_up;
  made_up.slope(measure::Place::copy, false, -0.002).slope(measure::Place::step, false, -0.5);
  EXPECT_THAT(printed(made_up),
              AllOf(HasSubstr(" 0.00 "), HasSubstr(" -0.50 "), Not(HasSubstr("-0.00"))));
}

TEST(DiagnosisText, ReadsInFlightAreNamedAmongTheDelays) {
  MadeUpEvidence made_up;
  for (auto& round : made_up.evidence.rounds)
    round.pairs.push_back({measure::Place::in_flight, judge::withheld_of(4), 150, 200});
  EXPECT_THAT(printed(made_up), HasSubstr("reads in flight, -25 % 1.00"));
}

}  // namespace
}  // namespace feedrate::tests
