#include "judge/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "judge/reads_in_flight.h"
#include "tests/judge/made_up_evidence.h"

namespace feedrate::tests {
namespace {

using judge::Diagnosis;
using judge::Finding;
using judge::LadderRung;
using measure::Place;
using measure::Stage;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr MadeUpEvidence::Slopes kSlotsBind{.worker = 1, .burnt = 1};
constexpr MadeUpEvidence::Slopes kDeviceBinds{.step = 1};

void expect_clear(const Finding& finding, const std::string& name, const std::string& resource) {
  EXPECT_THAT(finding.names, ElementsAre(name));
  EXPECT_THAT(finding.resources, ElementsAre(resource));
  EXPECT_TRUE(finding.clear);
  EXPECT_GT(finding.confidence, 0.9);
  EXPECT_LE(finding.confidence, 1);
}

// No delay tells of what is left: no such answer is surer than 80 %.
void expect_by_elimination(const Finding& finding, const std::string& name,
                           const std::string& resource) {
  EXPECT_THAT(finding.names, ElementsAre(name));
  EXPECT_THAT(finding.resources, ElementsAre(resource));
  EXPECT_TRUE(finding.clear);
  ASSERT_TRUE(finding.confidence);
  EXPECT_NEAR(*finding.confidence, 0.8, 1e-9);
  for (const judge::Suspect& suspect : finding.suspects) {
    if (!suspect.is_delayed) {
      EXPECT_LE(suspect.binds.value(), 0.8);
    }
  }
}

TEST(Diagnosis, WorkersThatBindAreNamedByTheirLargestStage) {
  for (const auto& [stage, name] : {std::pair{Stage::read, "read"},
                                    {Stage::decode, "decode"},
                                    {Stage::augment, "augment"},
                                    {Stage::collate, "collate"}}) {
    const Finding f = MadeUpEvidence().slopes(kSlotsBind).stage(stage, 50, 1).diagnosis().finding;
    expect_clear(f, name, "workers");
    EXPECT_EQ(f.sentence, std::string(name) +
                              " limits it (workers): 200 of 1,000 img/s, 20 % of the ceiling "
                              "(95 %: 20 to 20)");
  }
}

TEST(Diagnosis, WorkersThatWaitForACpuShareIt) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind);
  for (auto& round : made_up.evidence.rounds) {
    for (auto& stage : round.undelayed.value().stage) stage.cpu_ns = 0;
    round.undelayed.value().cpu_wait_ns = std::llround(1e6 * 19 * 100);  // of 20 ms
  }
  expect_clear(made_up.diagnosis().finding, "shared CPU", "workers");
}

// Workers wait for storage most of their time, and so many of them compute alone.
TEST(Diagnosis, ACpuThatBindsIsNamedByWhatComputesMost) {
  MadeUpEvidence made_up;
  made_up.slopes({.burnt = 1}).stage(Stage::read, 100, 1);
  for (auto& round : made_up.evidence.rounds) round.step_cpu_s = 2e-3;
  expect_clear(made_up.diagnosis().finding, "decode", "CPU");
  for (auto& round : made_up.evidence.rounds) round.step_cpu_s = 20e-3;
  const Finding shared = made_up.diagnosis().finding;
  expect_clear(shared, "shared CPU", "CPU");
  EXPECT_THAT(shared.sentence, StartsWith("the CPU, which loaders and steps share, limits it"));
}

// A quota stops all threads: sleeping in any of them costs what chance gives.
TEST(Diagnosis, AQuotaThatIsUsedUpIsNamedWhateverSleepingCosts) {
  MadeUpEvidence made_up;
  made_up.slopes({.worker = 0.5, .burnt = 1.2, .copy = 0.5, .step = 0.5});
  EXPECT_FALSE(made_up.diagnosis().finding.clear);
  for (auto& round : made_up.evidence.rounds) round.cpu_quota_stopped = 0.6;
  const Finding f = made_up.diagnosis().finding;
  expect_clear(f, "decode", "CPU");
  EXPECT_THAT(f.sentence,
              StartsWith("the CPU quota limits it; most of its CPU time goes into decode: 200 of"));
  for (auto& round : made_up.evidence.rounds) round.cpu_quota_stopped = 0.4;
  EXPECT_FALSE(made_up.diagnosis().finding.clear) << "it runs most of the time";
}

TEST(Diagnosis, AQuotaIsNoAnswerWhereBurningCostsNothing) {
  MadeUpEvidence made_up;
  made_up.slopes({.worker = 1});
  for (auto& round : made_up.evidence.rounds) round.cpu_quota_stopped = 0.9;
  expect_clear(made_up.diagnosis().finding, "decode", "workers");
}

TEST(Diagnosis, ACopyThatBindsIsTheLinks) {
  expect_clear(MadeUpEvidence().slopes({.copy = 1}).diagnosis().finding, "copy", "link");
}

// On a CPU, the step waits for its copy: its delay is one of the step, and tells nothing.
TEST(Diagnosis, ASerialCopyIsOfTheStep) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.device_kind = "cpu";
  made_up.slopes({.copy = 1, .step = 1}).rate(LadderRung::device, 980).rate(LadderRung::host, 250);
  expect_clear(made_up.diagnosis().finding, "copy", "device");
  made_up.evidence.settings.device_kind = "emulated";
  const Finding beside = made_up.diagnosis().finding;
  EXPECT_THAT(beside.resources, UnorderedElementsAre("link", "device"));
}

TEST(Diagnosis, AStepAtItsCeilingIsComputeBound) {
  const Finding f =
      MadeUpEvidence().slopes(kDeviceBinds).rate(LadderRung::none, 980).diagnosis().finding;
  expect_clear(f, "compute", "device");
  EXPECT_EQ(f.sentence, "compute-bound: 980 of 1,000 img/s, 98 % of the ceiling (95 %: 98 to 98)");
}

// Never rounded up to all of it; and how far the rounds differ.
TEST(Diagnosis, AShareJustBelowTheCeilingIsNotAllOfIt) {
  MadeUpEvidence made_up;
  made_up.slopes(kDeviceBinds).rate(LadderRung::none, 996);
  EXPECT_THAT(made_up.diagnosis().finding.sentence, HasSubstr(", 99.6 % of the ceiling (95 %: "));
  made_up.rate(LadderRung::none, 999.9);
  EXPECT_THAT(made_up.diagnosis().finding.sentence,
              EndsWith(", 99.9 % of the ceiling (95 %: 99.9 to 99.9)"));
  made_up.rate(LadderRung::none, 1000);
  EXPECT_THAT(made_up.diagnosis().finding.sentence, HasSubstr(", 100 % of the ceiling"));
  double own = 880;
  for (auto& round : made_up.evidence.rounds) round.rates[LadderRung::none] = own += 10;
  EXPECT_THAT(made_up.diagnosis().finding.sentence,
              EndsWith(", 90 % of the ceiling (95 %: 88 to 93)"));
  made_up.evidence.rounds.pop_back();
  EXPECT_THAT(made_up.diagnosis().finding.sentence, EndsWith(" (no interval below 3 rounds)"));
}

TEST(Diagnosis, AStepBelowItsCeilingIsNamedByWhatTheLadderLost) {
  const auto below = [] {
    return MadeUpEvidence().slopes(kDeviceBinds).rate(LadderRung::none, 700);
  };
  expect_clear(below().diagnosis().finding, "compute", "device");
  expect_clear(below().rate(LadderRung::device, 750).diagnosis().finding, "normalise", "device");
  expect_clear(below().rate(LadderRung::device, 950).diagnosis().finding, "compute", "device");
  expect_clear(below().rate(LadderRung::discard, 750).diagnosis().finding, "shared CPU", "device");
}

TEST(Diagnosis, AllReduceIsNamedFromHalfOfAStepOn) {
  for (const auto& [share, name] : {std::pair{0.6, "all-reduce"}, {0.4, "compute"}}) {
    MadeUpEvidence made_up;
    made_up.slopes(kDeviceBinds).rate(LadderRung::none, 980);
    for (auto& round : made_up.evidence.rounds) round.all_reduce_share = share;
    expect_clear(made_up.diagnosis().finding, name, "device");
  }
}

TEST(Diagnosis, WhereNoDelayCostsAnythingReadingMeansTheStorage) {
  const Finding f = MadeUpEvidence().slopes({}).stage(Stage::read, 100, 1).diagnosis().finding;
  expect_by_elimination(f, "storage", "storage");
  EXPECT_THAT(f.sentence, StartsWith("storage likely limits it (storage), by elimination: 200 of"));
}

TEST(Diagnosis, AStorageThatMoreReadsSlowDownIsNamed) {
  MadeUpEvidence made_up;
  made_up.slopes({}).slope(Place::storage, false, 1);
  expect_clear(made_up.diagnosis().finding, "storage", "storage");
  EXPECT_THAT(made_up.diagnosis().finding.sentence, StartsWith("storage limits it"));
}

TEST(Diagnosis, AStorageThatServesMoreReadsIsNotNamedByElimination) {
  MadeUpEvidence made_up;
  made_up.slopes({}).slope(Place::storage, false, 0).stage(Stage::read, 100, 1);
  expect_by_elimination(made_up.diagnosis().finding, "harness", "harness");
}

TEST(Diagnosis, TheThreadThatLaunchesStepsIsTheHarness) {
  MadeUpEvidence made_up;
  made_up.slopes({}).slope(Place::step, true, 1);
  const Finding f = made_up.diagnosis().finding;
  expect_clear(f, "harness", "training thread");
  EXPECT_THAT(f.sentence, StartsWith("the thread that launches the steps limits it"));
  EXPECT_TRUE(f.nothing_usual_binds());
}

// An emulated copy holds it up, and has next to nothing to do.
TEST(Diagnosis, ACopyThatIsIdleDoesNotBindTheThreadThatLaunchesDoes) {
  const auto idle = [](double utilisation) {
    MadeUpEvidence made_up;
    made_up.slopes({.copy = 1}).capacity("link", "copy").evidence.settings.device_kind = "emulated";
    for (auto& round : made_up.evidence.rounds) round.capacities.front().utilisation = utilisation;
    return made_up;
  };
  expect_clear(idle(0.01).diagnosis().finding, "harness", "training thread");
  expect_clear(idle(0.01).rate(LadderRung::none, 990).diagnosis().finding, "compute",
               "training thread");
  expect_clear(idle(0.9).diagnosis().finding, "copy", "link");
  MadeUpEvidence gpu = idle(0.01);
  gpu.evidence.settings.device_kind = "cuda";
  expect_clear(gpu.diagnosis().finding, "copy", "link");
}

// Its threads cannot be delayed: where nothing else costs anything, they are what is left.
TEST(Diagnosis, DalisLoaderIsWhatIsLeft) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.loader = "dali";
  made_up.slope(Place::copy, false, 0).slope(Place::step, false, 0);
  expect_by_elimination(made_up.diagnosis().finding, "decode", "workers");
  made_up.stage(Stage::augment, 12, 10);
  EXPECT_THAT(made_up.diagnosis().finding.sentence,
              HasSubstr(" likely limit it alike, by elimination: "));
  MadeUpEvidence device;
  device.evidence.settings.loader = "dali";
  device.slope(Place::copy, false, 0).slope(Place::step, false, 1).rate(LadderRung::none, 990);
  expect_clear(device.diagnosis().finding, "compute", "device");
}

// A rung that wanders by more than it loses names nothing.
TEST(Diagnosis, TheLadderNamesOnlyALossThatIsShown) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).rate(LadderRung::encoded, 500);
  EXPECT_EQ(made_up.diagnosis().finding.witness.ladder,
            "normalise and copy and collate and augment and decode");
  double off = -800;
  for (auto& round : made_up.evidence.rounds) round.rates[LadderRung::encoded] = 500 + (off += 400);
  for (auto& round : made_up.evidence.rounds) round.rates[LadderRung::none] = 500;
  EXPECT_EQ(made_up.diagnosis().finding.witness.ladder, "");
}

// One pair tells nothing: what is left has the same name.
TEST(Diagnosis, WhatIsLeftAndTheThreadThatLaunchesAreOneHarness) {
  MadeUpEvidence made_up;
  made_up.slopes({}).slope(Place::step, true, 0.5, 0.8);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("harness"));
  EXPECT_TRUE(f.clear);
  EXPECT_LE(f.confidence, 0.8) << "a half of it rests on no delay";
}

// What is read lies in memory: no storage limits it.
TEST(Diagnosis, AWarmCellIsNotTheStorages) {
  MadeUpEvidence made_up;
  made_up.slopes({}).stage(Stage::read, 100, 1);
  for (auto& round : made_up.evidence.rounds) round.page_cache = "warm";
  const Finding f = made_up.diagnosis().finding;
  expect_by_elimination(f, "harness", "harness");
  EXPECT_TRUE(f.nothing_usual_binds());
}

TEST(Diagnosis, WhereNothingBindsAtTheCeilingItIsCompute) {
  MadeUpEvidence made_up;
  made_up.slopes({}).stage(Stage::read, 100, 1).rate(LadderRung::none, 970);
  expect_by_elimination(made_up.diagnosis().finding, "compute", "device");
  EXPECT_THAT(made_up.diagnosis().finding.sentence,
              StartsWith("likely compute-bound, by elimination: 970 of"));
  EXPECT_THAT(made_up.rate(LadderRung::none, 990).diagnosis().finding.sentence,
              StartsWith("compute-bound: 990 of"))
      << "there is nothing to gain";
}

// More reads take CPU time, and the CPU is what is short.
TEST(Diagnosis, WhereTheCpuIsShortItIsNotTheStorage) {
  MadeUpEvidence made_up;
  made_up.slopes({.burnt = 1}).slope(Place::storage, false, 0.9);
  expect_clear(made_up.diagnosis().finding, "decode", "CPU");
}

TEST(Diagnosis, WhereTheCpuIsShortItIsNotTheThreadThatLaunches) {
  MadeUpEvidence made_up;
  made_up.slopes({.burnt = 1}).slope(Place::step, true, 1);
  const Finding f = made_up.diagnosis().finding;
  expect_clear(f, "decode", "CPU");
  EXPECT_FALSE(f.nothing_usual_binds());
}

TEST(Diagnosis, WhereNoDelayCostsAnythingALockMeansTheLock) {
  expect_by_elimination(MadeUpEvidence().slopes({}).stage(Stage::lock, 100, 0).diagnosis().finding,
                        "lock", "library");
}

TEST(Diagnosis, WhereNothingTellsItIsTheHarness) {
  const Finding f = MadeUpEvidence().slopes({}).diagnosis().finding;
  expect_by_elimination(f, "harness", "harness");
  EXPECT_THAT(f.sentence, StartsWith("the device waits, and no delay tells why"));
}

TEST(Diagnosis, TwoThatAreEquallySlowAreBothNamed) {
  const Finding f =
      MadeUpEvidence().slopes({.worker = 0.95, .burnt = 0.9, .step = 1}).diagnosis().finding;
  EXPECT_THAT(f.names, UnorderedElementsAre("decode", "compute"));
  EXPECT_THAT(f.resources, UnorderedElementsAre("workers", "device"));
  EXPECT_TRUE(f.clear);
  EXPECT_THAT(f.sentence, HasSubstr(" limit it alike: 200 of 1,000 img/s"));
}

TEST(Diagnosis, WhatIntervalsDoNotTellIsNotClear) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0.5, 0.8).slope(Place::step, false, 0.5, 0.8);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, testing::IsSupersetOf({std::string("decode"), std::string("compute")}));
  EXPECT_FALSE(f.clear);
  EXPECT_LT(f.confidence, 0.8);
  EXPECT_THAT(f.sentence, StartsWith("not clear between "));
  EXPECT_THAT(f.sentence, HasSubstr("decode"));
  EXPECT_THAT(f.sentence, HasSubstr("compute"));
}

// Then the delays have said nothing.
TEST(Diagnosis, WhereTheCeilingIsReachedIntervalsNeedNotTell) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0.5, 0.8).slope(Place::step, false, 0.5, 0.8);
  const Finding f = made_up.rate(LadderRung::none, 985).diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("compute"));
  EXPECT_TRUE(f.clear);
  EXPECT_FALSE(f.confidence);
  EXPECT_EQ(f.witness.slopes, "");
  for (auto& round : made_up.evidence.rounds) round.all_reduce_share = 0.75;
  EXPECT_THAT(made_up.diagnosis().finding.names, ElementsAre("all-reduce"))
      << "of the ceiling, too";
}

// One that surely binds, and one that may.
TEST(Diagnosis, WhatMayBindAsWellIsNamedToo) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 1).slope(Place::step, false, 0.5, 0.8);
  made_up.slope(Place::copy, false, 0);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("decode", "compute"));
  EXPECT_FALSE(f.clear);
}

TEST(Diagnosis, OnePairIsNotClear) {
  MadeUpEvidence made_up;
  made_up.evidence.rounds.resize(1);
  made_up.evidence.rounds[0].pairs = {pair_of(Place::worker, false, 1, made_up.evidence.servers),
                                      pair_of(Place::step, false, 0, made_up.evidence.servers)};
  EXPECT_FALSE(made_up.diagnosis().finding.clear);
}

TEST(Diagnosis, AColdCellIsComparedByItsColdRung) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.page_cache = "cold";
  made_up.slopes(kSlotsBind).rate(LadderRung::cold, 100);
  EXPECT_THAT(made_up.diagnosis().finding.sentence, HasSubstr("100 of 1,000 img/s"));
}

TEST(Diagnosis, TheThreeKindsOfEvidenceSpeakForThemselves) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).capacity("loader", "decode");
  made_up.rate(LadderRung::decoded, 900).rate(LadderRung::encoded, 300);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_EQ(f.witness.ladder, "decode");
  EXPECT_EQ(f.witness.capacities, "decode");
  EXPECT_EQ(f.witness.slopes, "decode");
  EXPECT_TRUE(f.witness.agree);
}

TEST(Diagnosis, AWitnessThatNamesAnotherDisagrees) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).capacity("loader", "augment");
  made_up.rate(LadderRung::decoded, 900).rate(LadderRung::encoded, 300);
  EXPECT_FALSE(made_up.diagnosis().finding.witness.agree);
  made_up.capacity("loader", "decode").rate(LadderRung::encoded, 890);
  EXPECT_FALSE(made_up.diagnosis().finding.witness.agree) << "the ladder says that reading costs";
}

TEST(Diagnosis, AStepOverAMissingRungAgreesWithEachPartOfIt) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).rate(LadderRung::sample, 900).rate(LadderRung::encoded, 300);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_EQ(f.witness.ladder, "augment and decode");
  EXPECT_TRUE(f.witness.agree);
}

TEST(Diagnosis, WaitingForACpuIsCalledTheSameByCapacities) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).capacity("loader", "CPU wait");
  EXPECT_EQ(made_up.diagnosis().finding.witness.capacities, "shared CPU");
  made_up.capacity("device", "step");
  EXPECT_EQ(made_up.diagnosis().finding.witness.capacities, "compute");
}

TEST(Diagnosis, WithoutSlopesTheTwoOthersSayWhatTheyCan) {
  MadeUpEvidence made_up;
  made_up.rate(LadderRung::decoded, 900)
      .rate(LadderRung::encoded, 300)
      .capacity("loader", "augment");
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("decode", "augment"));
  EXPECT_FALSE(f.clear);
  EXPECT_EQ(f.witness.slopes, "");
  EXPECT_THAT(f.sentence, StartsWith("not clear between decode and augment: 200 of 1,000 img/s"));
  EXPECT_FALSE(f.confidence);
}

TEST(Diagnosis, WithoutSlopesBothMaySayCompute) {
  MadeUpEvidence made_up;
  made_up.rate(LadderRung::none, 980).capacity("device", "step");
  const Finding f = made_up.diagnosis().finding;
  EXPECT_TRUE(f.clear);
  EXPECT_THAT(f.sentence, StartsWith("compute-bound"));
  EXPECT_TRUE(f.witness.agree);
}

TEST(Diagnosis, ServiceTimesAreOfAllRounds) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind);
  made_up.evidence.rounds[1].undelayed.reset();  // its blocks failed
  made_up.evidence.rounds[2].undelayed.value()[Stage::decode] = each(18, 10);
  const Diagnosis d = made_up.diagnosis();
  EXPECT_NEAR(d.service.ms, 4 + (12 + 18) / 2.0 + 3 + 1, 1e-6);
  EXPECT_NEAR(d.cpu.ms, 1 + 10 + 2 + 1, 1e-6);
}

TEST(Diagnosis, WithoutSlopesAStageThatBothNameIsClear) {
  MadeUpEvidence made_up;
  made_up.rate(LadderRung::decoded, 900)
      .rate(LadderRung::encoded, 300)
      .capacity("loader", "decode");
  const Finding f = made_up.diagnosis().finding;
  EXPECT_TRUE(f.clear);
  EXPECT_THAT(
      f.sentence,
      StartsWith("decode likely limits it, by the ladder and the capacities alone: 200 of"));
  made_up.evidence.rounds.resize(2);
  const Finding look = made_up.diagnosis().finding;
  EXPECT_FALSE(look.clear) << "no interval";
  EXPECT_THAT(look.sentence, StartsWith("perhaps decode"));
}

TEST(Diagnosis, WithoutSlopesOneWitnessAloneIsNotBetweenOne) {
  MadeUpEvidence made_up;
  made_up.rate(LadderRung::decoded, 900).rate(LadderRung::encoded, 300);
  EXPECT_THAT(made_up.diagnosis().finding.sentence, Not(HasSubstr("between decode:")));
}

TEST(Diagnosis, WithoutSlopesAStepOverAMissingRungIsNotNamedTwice) {
  MadeUpEvidence made_up;
  made_up.rate(LadderRung::sample, 900).rate(LadderRung::encoded, 300).capacity("loader", "decode");
  EXPECT_THAT(made_up.diagnosis().finding.names, ElementsAre("decode"));
}

// A warm cell reads nothing from storage, however slow that is: its cold rung lies below it.
TEST(Diagnosis, TheLadderIsReadDownToTheCellAlone) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).rate(LadderRung::decoded, 310).rate(LadderRung::encoded, 210);
  made_up.rate(LadderRung::synthetic, 320).rate(LadderRung::cold, 20);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_EQ(f.witness.ladder, "decode");
  EXPECT_TRUE(f.witness.agree);
}

TEST(Diagnosis, StorageIsWhatALadderAndCapacitiesThatSayReadMean) {
  MadeUpEvidence made_up;
  made_up.slopes({}).stage(Stage::read, 100, 1).capacity("loader", "read");
  made_up.rate(LadderRung::encoded, 900);
  EXPECT_TRUE(made_up.diagnosis().finding.witness.agree);
}

// That it is decoding is sure, only whether for want of workers or of CPUs is not.
TEST(Diagnosis, OneNameOfTwoResourcesIsAsSureAsBothTogether) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0.5, 0.8).slope(Place::worker, true, 1);
  made_up.slope(Place::step, false, 0).slope(Place::copy, false, 0);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("decode"));
  EXPECT_GT(f.confidence, 0.7);
}

// Threads of a library are not ours to delay.
TEST(Diagnosis, APlaceThatNothingTellsOfMayBind) {
  MadeUpEvidence made_up;
  made_up.slope(Place::step, false, 0).slope(Place::copy, false, 0);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_FALSE(f.clear);
  EXPECT_THAT(f.names, Contains("decode"));
}

TEST(Diagnosis, WhatNobodyMeasuredHasNoLikelihood) {
  MadeUpEvidence made_up;
  made_up.slope(Place::step, false, 0);
  for (const judge::Suspect& suspect : made_up.diagnosis().finding.suspects)
    EXPECT_EQ(suspect.binds.has_value(), suspect.resource == "device") << suspect.resource;
}

// One worker, whose reads of 20 ms each reach a device of 2,400 images/s. `depth`: of its reads.
MadeUpEvidence far_storage(int depth) {
  const double rate = depth / 20.5e-3;
  MadeUpEvidence made_up;
  made_up.evidence.settings.device_kind = "emulated";
  made_up.evidence.settings.workers = 1;
  made_up.evidence.settings.io = depth > 1 ? "uring-direct" : "direct";
  made_up.evidence.settings.io_depth = depth;
  made_up.evidence.servers.workers = 1;
  made_up.stage(Stage::read, 1e3 / rate - 0.5, 0.05).stage(Stage::decode, 0.4, 0.4);
  made_up.stage(Stage::augment, 0.05, 0.05).stage(Stage::collate, 0.05, 0.05);
  for (const LadderRung rung : {LadderRung::synthetic, LadderRung::decoded, LadderRung::encoded})
    made_up.rate(rung, 2400);
  made_up.rate(LadderRung::none, rate);
  for (auto& round : made_up.evidence.rounds) {
    round.page_cache = "bypassed";
    round.capacities = {{"loader", 1.01 * rate, 0.99, "read", 0.92},
                        {std::string(judge::kReadsInFlight), depth / 20e-3, 0.97, "read", 1},
                        {"link", 40'000, rate / 40'000, "copy", 1},
                        {"device", 2400, rate / 2400, "step", 1}};
  }
  return made_up;
}

// Whatever else is delayed costs next to nothing: the reads go on meanwhile.
TEST(Diagnosis, ReadsInFlightThatAreTooFewAreNamedWithTheirNumberAndTime) {
  MadeUpEvidence made_up = far_storage(4);
  made_up.slopes({.worker = 0.27, .burnt = 0.27}).slope(Place::storage, false, 0);
  for (auto& round : made_up.evidence.rounds)
    for (int pair = 0; pair < 2; ++pair)
      round.pairs.push_back({Place::in_flight, judge::withheld_of(4), 147 + 2.0 * pair, 195});
  const Finding f = made_up.diagnosis().finding;
  expect_clear(f, "read", "reads in flight");
  EXPECT_THAT(f.sentence, StartsWith("read limits it (reads in flight: 4 at 20 ms each): 195 of "));
  EXPECT_TRUE(f.witness.agree);
  EXPECT_EQ(f.witness.slopes, "read");
}

// Nothing withheld any of them: what is left says less than the two others, which agree.
TEST(Diagnosis, EliminationDoesNotOutvoteALadderAndCapacitiesThatAgree) {
  MadeUpEvidence made_up = far_storage(4);
  made_up.slopes({.worker = 0.1, .burnt = 0.1}).slope(Place::storage, false, 0);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("read"));
  EXPECT_FALSE(f.clear);
  EXPECT_FALSE(f.confidence);
  EXPECT_THAT(f.sentence, StartsWith("perhaps read (reads in flight: 4 at 20 ms each): "));
  EXPECT_EQ(f.witness.slopes, "");
  made_up.evidence.settings.io_depth = 1;
  EXPECT_THAT(made_up.diagnosis().finding.names, ElementsAre("read"))
      << "workers that are no slower for a delay";
}

TEST(Diagnosis, ReadsFromMemoryDoNotCompete) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).stage(Stage::read, 0.05, 0.01).evidence.settings.io = "uring";
  made_up.evidence.settings.io_depth = 8;
  for (const judge::Suspect& suspect : made_up.diagnosis().finding.suspects)
    EXPECT_NE(suspect.resource, judge::kReadsInFlight);
  expect_clear(made_up.diagnosis().finding, "decode", "workers");
}

// One read at a time: the workers' delay is that of their reads.
TEST(Diagnosis, AWorkerThatReadsOneAtATimeSaysHowLongItTakes) {
  MadeUpEvidence made_up = far_storage(1);
  made_up.slopes({.worker = 1, .burnt = 0.9}).slope(Place::storage, false, 0);
  const Finding f = made_up.diagnosis().finding;
  expect_clear(f, "read", "workers");
  EXPECT_THAT(f.sentence,
              StartsWith("read limits it (workers; reads in flight: 1 at 20 ms each): "));
}

// One pair of a few places, of a slow cell: the device waits 98 % of the time, and most of the
// loader's is reading.
TEST(Diagnosis, ASlowCellWithOnePairRestsOnLadderAndCapacitiesAlone) {
  MadeUpEvidence made_up = far_storage(1);
  made_up.evidence.rounds.resize(1);
  made_up.evidence.rounds[0].pairs = {pair_of(Place::copy, false, 0.6, made_up.evidence.servers)};
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("read"));
  EXPECT_THAT(f.resources, ElementsAre("reads in flight"));
  EXPECT_FALSE(f.clear);
  EXPECT_FALSE(f.confidence);
  EXPECT_TRUE(f.suspects.empty()) << "no number for what nobody measured";
}

TEST(Diagnosis, ADeviceThatWaitsMostOfTheTimeIsExcluded) {
  MadeUpEvidence made_up = far_storage(1);
  made_up.slope(Place::worker, false, 0.9, 0.4).slope(Place::copy, false, 0);
  const auto device = [&] {
    const auto suspects = made_up.diagnosis().finding.suspects;
    return std::ranges::find(suspects, "device", &judge::Suspect::resource)->binds;
  };
  EXPECT_EQ(device(), 0.0) << "nobody delayed it";
  made_up.slope(Place::step, false, 0.5, 0.8);
  EXPECT_EQ(device(), 0.0) << "few pairs scatter";
}

TEST(Diagnosis, WhatIsNotClearBetweenSeveralIsNotAgreedOn) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0.6, 0.8).slope(Place::step, false, 0.5, 0.8);
  made_up.slope(Place::copy, false, 0).capacity("loader", "decode");
  made_up.rate(LadderRung::decoded, 900).rate(LadderRung::encoded, 210);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.sentence, StartsWith("not clear between "));
  EXPECT_FALSE(f.witness.agree);
}

// 200 images/s of the cell, and loaders alone with more workers reach 130.
TEST(Diagnosis, ARungThatCannotBeSlowerThanTheCellIsNoise) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).rate(LadderRung::cpus, 130);
  EXPECT_TRUE(made_up.evidence.is_noise(LadderRung::cpus));
  made_up.evidence.servers.cpus = 2;
  EXPECT_FALSE(made_up.evidence.is_noise(LadderRung::cpus)) << "4 workers, and one for each CPU";
  made_up.rate(LadderRung::decoded, 150).rate(LadderRung::encoded, 300);
  EXPECT_TRUE(made_up.evidence.is_noise(LadderRung::decoded));
  const Diagnosis d = made_up.diagnosis();
  EXPECT_TRUE(std::ranges::none_of(
      d.waterfall, [](const judge::Loss& loss) { return loss.to == LadderRung::decoded; }));
  EXPECT_TRUE(made_up.evidence.ladder().front().contains(LadderRung::decoded)) << "still shown";
  made_up.evidence.settings.mixed_sizes = true;
  EXPECT_FALSE(made_up.evidence.is_noise(LadderRung::decoded)) << "a part of it may be larger";
}

TEST(Diagnosis, StagesThatAreAboutAlikeAreNamedTogether) {
  MadeUpEvidence made_up;
  made_up.slopes(kSlotsBind).stage(Stage::decode, 10, 10).stage(Stage::augment, 9, 9);
  EXPECT_THAT(made_up.diagnosis().finding.names, ElementsAre("decode", "augment"));
}

// As long as the ceiling is reached, a CPU step that is slowed by whatever computes is no loss.
TEST(Diagnosis, AtTheCeilingABusyCpuIsTheStepsOwn) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0).slope(Place::worker, true, 1.2);
  made_up.slope(Place::step, false, 1).slope(Place::copy, false, 0).rate(LadderRung::none, 990);
  for (auto& round : made_up.evidence.rounds) round.step_cpu_s = 20e-3;
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("compute"));
  EXPECT_TRUE(f.clear);
}

// Whatever delays say in noise: there is nothing to gain.
TEST(Diagnosis, AtTheCeilingWhatIsNotClearIsComputeBound) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0.5, 0.8).slope(Place::step, false, 0.5, 0.8);
  made_up.slope(Place::copy, false, 0).rate(LadderRung::none, 995);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_THAT(f.names, ElementsAre("compute"));
  EXPECT_FALSE(f.confidence) << "the ladder says it, not the delays";
}

TEST(Diagnosis, ACellAboveItsCeilingSaysThatThisCannotBe) {
  MadeUpEvidence made_up;
  made_up.slope(Place::worker, false, 0).slope(Place::step, false, 1).slope(Place::copy, false, 0);
  EXPECT_THAT(made_up.rate(LadderRung::none, 1300).diagnosis().finding.sentence,
              HasSubstr("130 % of the ceiling, which cannot be"));
}

// It waits for a lock, while its ceiling was slowed by something else.
TEST(Diagnosis, ACeilingThatCannotBeMakesNothingClear) {
  MadeUpEvidence made_up;
  made_up.slopes({}).stage(Stage::lock, 40, 0).rate(LadderRung::none, 1300);
  const Finding f = made_up.diagnosis().finding;
  EXPECT_FALSE(f.clear);
  EXPECT_FALSE(f.confidence);
  EXPECT_THAT(f.names, ElementsAre("lock"));
  EXPECT_EQ(f.witness.ladder, "");
}

}  // namespace
}  // namespace feedrate::tests
