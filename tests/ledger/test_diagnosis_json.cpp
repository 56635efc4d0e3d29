#include "ledger/diagnosis_json.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "plan/expand.h"
#include "tests/judge/made_up_evidence.h"

namespace feedrate::tests {
namespace {

using judge::LadderRung;
using Json = nlohmann::ordered_json;

ledger::DiagnosisOf made_up_of() {
  return {.cell = plan::expand({{"device", {"emulated:1000"}}, {"data", {"jpeg"}}}).at(0),
          .device = "a device",
          .seconds = 12.5,
          .seen = {}};
}
MadeUpEvidence made_up_evidence() {
  MadeUpEvidence made_up;
  made_up.slopes({.worker = 1, .burnt = 1}).capacity("loader", "decode");
  made_up.rate(LadderRung::decoded, 900).rate(LadderRung::encoded, 300);
  return made_up;
}
Json diagnosis_json_of(const MadeUpEvidence& made_up,
                       const ledger::DiagnosisOf& of = made_up_of()) {
  return ledger::diagnosis_json(of, made_up.evidence, made_up.diagnosis());
}

TEST(DiagnosisJson, SaysWhatItIsOf) {
  const Json json = diagnosis_json_of(made_up_evidence());
  EXPECT_EQ(json["schema"], "feedrate.diagnosis/1");
  EXPECT_EQ(json["cell_id"], made_up_of().cell.id());
  EXPECT_EQ(json["label"], made_up_of().cell.label());
  EXPECT_EQ(json["cell"]["data"], "jpeg");
  EXPECT_EQ(json["device"], "a device");
  EXPECT_EQ(json["emulated"], true);
  EXPECT_EQ(json["rounds"], 3);
  EXPECT_EQ(json["seconds"], 12.5);
}

TEST(DiagnosisJson, HasTheVerdictAndWhatItRestsOn) {
  const Json verdict = diagnosis_json_of(made_up_evidence())["verdict"];
  EXPECT_EQ(verdict["names"], Json({"decode"}));
  EXPECT_EQ(verdict["resources"], Json({"workers"}));
  EXPECT_EQ(verdict["clear"], true);
  EXPECT_GT(verdict["confidence"], 0.8);
  EXPECT_EQ(verdict["sentence"],
            "decode limits it (workers): 200 of 1,000 img/s, 20 % of the ceiling (95 %: 20 to 20)");
  EXPECT_EQ(verdict["evidence"],
            Json({{"ladder", "decode"}, {"capacities", "decode"}, {"slopes", "decode"}}));
  EXPECT_EQ(verdict["agree"], true);
}

TEST(DiagnosisJson, HasTheLadderAndWhatEachStepLost) {
  const Json json = diagnosis_json_of(made_up_evidence());
  ASSERT_EQ(json["ladder"].size(), 4u) << "the rungs that were measured, from the ceiling down";
  EXPECT_EQ(json["ladder"][0]["rung"], "synthetic");
  EXPECT_EQ(json["ladder"][0]["imgs_per_s"]["mean"], 1000.0);
  EXPECT_EQ(json["ladder"][0]["runs"], 3);
  const Json& decode = json["waterfall"][1];
  EXPECT_EQ(decode["step"], "decode");
  EXPECT_EQ(decode["from"], "decoded");
  EXPECT_EQ(decode["to"], "encoded");
  EXPECT_NEAR(decode["lost_imgs_per_s"]["mean"], 600, 1e-9);
  EXPECT_NEAR(decode["lost_share"]["mean"], 0.6, 1e-9);
  EXPECT_NEAR(decode["ms_per_step"]["mean"], 1e4 / 300 - 1e4 / 900, 1e-9);
}

TEST(DiagnosisJson, IntervalsAreFromThreeRoundsOn) {
  MadeUpEvidence made_up = made_up_evidence();
  const Json three = diagnosis_json_of(made_up)["ladder"][0]["imgs_per_s"]["ci95"];
  ASSERT_EQ(three.size(), 2u);
  EXPECT_LE(three[0], 1000.0);
  EXPECT_GE(three[1], 1000.0);
  made_up.evidence.rounds.resize(2);
  const Json two = diagnosis_json_of(made_up);
  EXPECT_TRUE(two["ladder"][0]["imgs_per_s"]["ci95"].is_null());
  EXPECT_TRUE(two["waterfall"][0]["lost_share"]["ci95"].is_null());
  EXPECT_EQ(two["rounds"], 2);
}

TEST(DiagnosisJson, ARungThatWasLeftOutSaysWhy) {
  ledger::DiagnosisOf of = made_up_of();
  of.seen.left_out = {{LadderRung::cold, "may not drop the page cache"},
                      {LadderRung::encoded, "failed once"}};
  const Json ladder = diagnosis_json_of(made_up_evidence(), of)["ladder"];
  EXPECT_EQ(ladder.back(), Json({{"rung", "cold"}, {"left_out", "may not drop the page cache"}}));
  EXPECT_EQ(ladder[2]["left_out"], "failed once");
  EXPECT_TRUE(ladder[2].contains("imgs_per_s")) << "other rounds have it";
}

// Of 2 workers too slow, of 4 and 8 as good as each other.
TEST(DiagnosisJson, TheWorkersThatAreEnoughHaveAnInterval) {
  judge::Remedy remedy{.name = "more workers", .changes = {}, .why = {}, .predicted = {}};
  const auto by_workers = [&](const std::optional<measure::Interval>& of_four) {
    remedy.by_workers = {{2, {100, measure::Interval{90, 110}}},
                         {4, {198, of_four}},
                         {8, {200, measure::Interval{199, 201}}}};
    ledger::DiagnosisOf of = made_up_of();
    of.advice = {remedy};
    return diagnosis_json_of(made_up_evidence(), of)["advice"][0]["by_workers"];
  };
  const Json surely = by_workers(measure::Interval{198, 199});
  EXPECT_EQ(surely["enough"], 4);
  EXPECT_EQ(surely["enough_ci95"], Json::array({4, 4}));
  EXPECT_EQ(by_workers(measure::Interval{150, 240})["enough_ci95"], Json::array({4, nullptr}));
  EXPECT_TRUE(by_workers({})["enough_ci95"].is_null()) << "too few runs";
}

TEST(DiagnosisJson, HasASlopeForEachPlace) {
  const Json slopes = diagnosis_json_of(made_up_evidence())["slopes"];
  ASSERT_EQ(slopes.size(), 4u);
  EXPECT_EQ(slopes[1]["place"], "worker");
  EXPECT_EQ(slopes[1]["kind"], "burn");
  EXPECT_EQ(slopes[2]["place"], "copy");
  EXPECT_EQ(slopes[2]["kind"], "sleep");
  EXPECT_NEAR(slopes[0]["delay_ms"], 0.2 * 4 / 200 * 1e3, 1e-6);
  EXPECT_EQ(slopes[0]["pairs"], 6);
  EXPECT_NEAR(slopes[0]["slope"]["mean"], 1, 1e-6);
  EXPECT_GT(slopes[0]["binds"], 0.99);
  EXPECT_LT(slopes[2]["binds"], 0.01);
  EXPECT_TRUE(slopes[0]["extra_reads"].is_null());
}

TEST(DiagnosisJson, TheStoragesDelayIsReads) {
  MadeUpEvidence made_up = made_up_evidence();
  made_up.slope(measure::Place::storage, false, 1);
  const Json slope = diagnosis_json_of(made_up)["slopes"].back();
  EXPECT_EQ(slope["place"], "storage");
  EXPECT_EQ(slope["kind"], "read");
  EXPECT_TRUE(slope["delay_ms"].is_null());
  EXPECT_NEAR(slope["extra_reads"], 0.2, 1e-9);
}

TEST(DiagnosisJson, ReadsInFlightAreWithheld) {
  MadeUpEvidence made_up = made_up_evidence();
  made_up.slope(measure::Place::in_flight, false, 1);
  const Json slope = diagnosis_json_of(made_up)["slopes"].back();
  EXPECT_EQ(slope["place"], "reads in flight");
  EXPECT_EQ(slope["kind"], "withhold");
  EXPECT_TRUE(slope["delay_ms"].is_null());
  EXPECT_TRUE(slope["extra_reads"].is_null());
  EXPECT_NEAR(slope["withheld"], 1 / 6.0, 1e-9);
}

TEST(DiagnosisJson, WhatNobodyMeasuredIsNull) {
  MadeUpEvidence made_up;
  made_up.slope(measure::Place::step, false, 0);
  made_up.evidence.rounds[0].pairs.push_back(
      pair_of(measure::Place::worker, false, 1, made_up.evidence.servers));
  const Json json = diagnosis_json_of(made_up);
  EXPECT_TRUE(json["slopes"][0]["binds"].is_null()) << "one pair";
  for (const Json& suspect : json["verdict"]["suspects"])
    EXPECT_EQ(suspect["binds"].is_null(), suspect["resource"] != "device") << suspect;
}

TEST(DiagnosisJson, SaysThatItWasInterrupted) {
  ledger::DiagnosisOf of = made_up_of();
  EXPECT_EQ(diagnosis_json_of(made_up_evidence(), of)["interrupted"], false);
  of.interrupted_of = 5;
  EXPECT_EQ(diagnosis_json_of(made_up_evidence(), of)["interrupted"], true);
}

TEST(DiagnosisJson, ASuspectThatIsAlsoWhatIsLeftIsThereOnce) {
  MadeUpEvidence made_up;
  made_up.slopes({}).rate(LadderRung::none, 990);
  const Json verdict = diagnosis_json_of(made_up)["verdict"];
  int devices = 0;
  for (const Json& suspect : verdict["suspects"]) {
    if (suspect["name"] != "compute" || suspect["resource"] != "device") continue;
    ++devices;
    EXPECT_GT(suspect["binds"], 0.5) << "the likelier of the two";
  }
  EXPECT_EQ(devices, 1) << verdict;
}

TEST(DiagnosisJson, ARungThatIsNoiseSaysSo) {
  const Json ladder = diagnosis_json_of(made_up_evidence().rate(LadderRung::cpus, 130))["ladder"];
  EXPECT_EQ(ladder.back()["noise"], true);
  EXPECT_FALSE(ladder.front().contains("noise"));
}

TEST(DiagnosisJson, WaitingForACpuHasNoCpuTime) {
  MadeUpEvidence made_up = made_up_evidence();
  for (auto& round : made_up.evidence.rounds)
    round.undelayed->cpu_wait_ns = std::llround(1e6 * 100);  // 1 ms of each sample
  const Json stages = diagnosis_json_of(made_up)["stages"];
  ASSERT_EQ(stages.size(), 5u);
  EXPECT_EQ(stages[1]["stage"], "decode");
  EXPECT_NEAR(stages[1]["cpu_ms"], 10, 1e-6);
  EXPECT_EQ(stages.back()["stage"], "CPU wait");
  EXPECT_NEAR(stages.back()["wall_ms"], 1, 1e-6);
  EXPECT_TRUE(stages.back()["cpu_ms"].is_null());
}

TEST(DiagnosisJson, CapacitiesAreOfTheLastRound) {
  MadeUpEvidence made_up = made_up_evidence();
  made_up.evidence.rounds.back().capacities = {{"device", 500, 0.4, "step", 1}};
  const Json capacities = diagnosis_json_of(made_up)["capacities"];
  ASSERT_EQ(capacities.size(), 1u);
  EXPECT_EQ(capacities[0]["resource"], "device");
}

TEST(DiagnosisJson, AdviceSaysWhetherItWasMeasured) {
  ledger::DiagnosisOf of = made_up_of();
  of.advice = {{.name = "more workers",
                .changes = {{"workers", "21"}, {"image-size", ""}},
                .why = "because",
                .predicted = {.mean = 900, .ci95 = measure::Interval{800, 950}},
                .measured = measure::Estimate{.mean = 880}},
               {.name = "decode in half the time", .predicted = {.mean = 300}}};
  of.seen.rounds = 1;
  of.seen.patterns["spikes"] = {1,
                                {.name = "spikes", .statistic = "7 of 100", .sentence = "it is"}};
  const Json json = diagnosis_json_of(made_up_evidence(), of);
  ASSERT_EQ(json["advice"].size(), 2u);
  EXPECT_EQ(json["advice"][0]["remedy"], "more workers");
  EXPECT_EQ(json["advice"][0]["options"], "--workers 21") << "what is as by default is not typed";
  EXPECT_EQ(json["advice"][0]["why"], "because");
  EXPECT_EQ(json["advice"][0]["predicted"], Json({{"mean", 900.0}, {"ci95", {800.0, 950.0}}}));
  EXPECT_EQ(json["advice"][0]["measured"]["mean"], 880.0);
  EXPECT_TRUE(json["advice"][1]["measured"].is_null());
  EXPECT_EQ(json["patterns"][0]["name"], "spikes");
}

}  // namespace
}  // namespace feedrate::tests
