#include "judge/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "judge/reads_in_flight.h"
#include "tests/judge/made_up_evidence.h"

namespace feedrate::tests {
namespace {

using judge::DataAndMemory;
using judge::LadderRung;
using judge::Remedy;
using measure::Stage;
using testing::EndsWith;
using testing::HasSubstr;

constexpr MadeUpEvidence::Slopes kWorkersBind{.worker = 1, .burnt = 1};

std::vector<Remedy> advice_of(const MadeUpEvidence& made_up, const DataAndMemory& around = {}) {
  return judge::advice_of(made_up.evidence, made_up.diagnosis(), around);
}
// Nothing where it is not among the advice.
std::optional<Remedy> found(const std::vector<Remedy>& advice, const std::string& name) {
  for (const Remedy& remedy : advice)
    if (remedy.name == name) return remedy;
  return std::nullopt;
}

// 200 images/s of 4 workers; a device of 1000 asks for 1000 * 20 ms = 20 workers, and 2 % more.
TEST(Advice, AsManyWorkersAsTheDeviceAsksFor) {
  const auto advice = advice_of(MadeUpEvidence().slopes(kWorkersBind));
  const auto workers = found(advice, "more workers");
  ASSERT_TRUE(workers);
  EXPECT_EQ(workers->options(), "--workers 21");
  EXPECT_NEAR(workers->predicted.mean, 1000, 1) << "then the device, not 21/4 * 200";
  EXPECT_THAT(workers->why, EndsWith("then the device would limit"));
}

// The thread that trains loads as well: 20 ms of each sample are its own.
TEST(Advice, WorkersOfTheirOwnWhereThereAreNone) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.workers = 0;
  made_up.evidence.servers.workers = 1;
  const auto workers = found(advice_of(made_up.slopes({.worker = 1})), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_EQ(workers->options(), "--workers 21");
  EXPECT_NEAR(workers->predicted.mean, 1000, 1);
}

// A stage in half the time, of which seven tenths are felt. A slope that scatters so widely that it
// may be 1 counts as 1, and the lower end alone has the rest.
TEST(Advice, ASlopeThatMayBeOneCountsAsOne) {
  const auto halved = [](double slope, double scatter) {
    MadeUpEvidence made_up;
    made_up.slope(measure::Place::worker, false, slope, scatter)
        .slope(measure::Place::worker, true, 1)
        .slope(measure::Place::copy, false, 0)
        .slope(measure::Place::step, false, 0);
    EXPECT_TRUE(made_up.diagnosis().finding.clear);
    return found(advice_of(made_up), "decode in half the time").value().predicted;
  };
  const double factor = 20.0 / (20 - 6);  // decode takes 12 ms of 20
  EXPECT_NEAR(halved(0.7, 0.02).mean, 200 * std::pow(factor, 0.7), 1);
  EXPECT_NEAR(halved(0.7, 0.02).ci95.value().low, 200 * std::pow(factor, 0.7), 10);
  EXPECT_NEAR(halved(0.9, 0.5).mean, 200 * factor, 1);
  EXPECT_LT(halved(0.9, 0.5).ci95.value().low, 200 * std::pow(factor, 0.8));
}

TEST(Advice, AnAnswerThatIsNotClearMayMeanNoGain) {
  MadeUpEvidence made_up;
  made_up.slope(measure::Place::worker, false, 0.5, 0.8).slope(measure::Place::copy, false, 0);
  made_up.slope(measure::Place::step, false, 0.5, 0.8);
  ASSERT_FALSE(made_up.diagnosis().finding.clear);
  const auto workers = found(advice_of(made_up), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 200 * std::sqrt(21.0 / 4), 1);
  EXPECT_NEAR(workers->predicted.ci95.value().low, 200, 1);
}

TEST(Advice, FewerThanThreeRoundsGiveNoInterval) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).rate(LadderRung::encoded, 500);
  made_up.evidence.rounds.resize(2);
  const auto advice = advice_of(made_up);
  ASSERT_GE(advice.size(), 3u);
  for (const Remedy& remedy : advice) EXPECT_FALSE(remedy.predicted.ci95) << remedy.name;
}

// 200 images/s are all that it has shown; where it was asked for a fifth more, 240.
TEST(Advice, NobodyKnowsWhatAStorageServesBeyondWhatItWasAskedFor) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).stage(Stage::read, 12, 1);
  EXPECT_GT(found(advice_of(made_up), "more workers").value().predicted.ci95.value().low, 400);
  for (auto& round : made_up.evidence.rounds) round.page_cache = "bypassed";
  const auto may_be = [&] {
    return found(advice_of(made_up), "more workers").value().predicted.ci95.value();
  };
  EXPECT_NEAR(may_be().low, 200, 1);
  EXPECT_NEAR(may_be().high, 1000, 1);
  made_up.slope(measure::Place::storage, false, 0);
  EXPECT_NEAR(may_be().low, 240, 1);
}

TEST(Advice, TheFewestWorkersThatAreEnough) {
  Remedy remedy{.name = "more workers", .changes = {{"workers", "20"}}, .why = {}, .predicted = {}};
  EXPECT_THAT(remedy.workers_to_try(), testing::ElementsAre(5, 10, 15, 20, 30));
  remedy.changes["workers"] = "2";
  EXPECT_THAT(remedy.workers_to_try(), testing::ElementsAre(1, 2, 3));
  remedy.by_workers = {{2, {100, {}}}};
  EXPECT_FALSE(remedy.enough_workers()) << "one number is no search";
  remedy.by_workers = {{2, {100, {}}}, {4, {197, {}}}, {8, {200, {}}}};
  EXPECT_EQ(remedy.enough_workers(), 4);
  remedy.by_workers[8].mean = 300;
  EXPECT_FALSE(remedy.enough_workers()) << "more may help";
}

TEST(Advice, WhichNumbersMayBeTheFewestThatAreEnough) {
  const auto rate = [](double low, double high) {
    return measure::Estimate{(low + high) / 2, measure::Interval{low, high}};
  };
  Remedy remedy{.name = "more workers", .changes = {}, .why = {}, .predicted = {}};
  remedy.by_workers = {{2, rate(90, 110)}, {4, rate(197, 198)}, {8, rate(199, 200)}};
  EXPECT_EQ(remedy.enough_range().value().low, 4);
  EXPECT_EQ(remedy.enough_range().value().high, 4) << "more than 0.98 of 200";
  remedy.by_workers[4] = rate(152, 240);
  EXPECT_EQ(remedy.enough_workers(), 4);
  EXPECT_EQ(remedy.enough_range().value().low, 4);
  EXPECT_FALSE(remedy.enough_range().value().high) << "more may help";
  remedy.by_workers[2] = rate(90, 196);
  remedy.by_workers[4] = rate(199, 200);
  EXPECT_EQ(remedy.enough_range().value().low, 2);
  EXPECT_EQ(remedy.enough_range().value().high, 4);
  remedy.by_workers[2].ci95.reset();
  EXPECT_FALSE(remedy.enough_range()) << "too few runs";
}

// 8 CPUs, 14 ms of each sample: no more than 571 images/s, whatever the workers.
TEST(Advice, TheSmallestCapacityThatIsLeftLimits) {
  MadeUpEvidence made_up;
  made_up.evidence.servers.cpus = 8;
  const auto workers = found(advice_of(made_up.slopes(kWorkersBind)), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 8 / 14e-3, 1);
  EXPECT_EQ(workers->changes.at("workers"), "12") << "ceil(1.02 * 571 * 0.020)";
  EXPECT_THAT(workers->why, EndsWith("then the CPUs would limit"));
}

// Two CPUs of one core: what loaders alone reach on all of them is measured, not reckoned.
TEST(Advice, WhatAllCpusReachIsMeasured) {
  MadeUpEvidence made_up;
  made_up.evidence.servers.cpus = 8;
  made_up.rate(LadderRung::cpus, 400);
  for (auto& round : made_up.evidence.rounds) round.cpus_busy = 1;
  const auto workers = found(advice_of(made_up.slopes(kWorkersBind)), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 400, 1);
  EXPECT_THAT(workers->why, EndsWith("then the CPUs would limit"));
  for (auto& round : made_up.evidence.rounds) round.step_cpu_s = 14e-3;
  const auto shared = found(advice_of(made_up.slopes(kWorkersBind)), "more workers");
  EXPECT_FALSE(shared) << "the steps take half of the CPUs: 200 img/s is what it reaches now";
}

// Loaders that sleep leave most of the CPUs to more of them.
TEST(Advice, WhatLoadersLeaveOfTheCpusCounts) {
  MadeUpEvidence made_up;
  made_up.evidence.servers.cpus = 8;
  made_up.rate(LadderRung::cpus, 400);
  for (auto& round : made_up.evidence.rounds) round.cpus_busy = 0.5;
  const auto workers = found(advice_of(made_up.slopes(kWorkersBind)), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 800, 1);
}

// The steps take a CPU as well.
TEST(Advice, TheStepsOwnCpuTimeIsNotTheLoaders) {
  MadeUpEvidence made_up;
  made_up.evidence.servers.cpus = 8;
  for (auto& round : made_up.evidence.rounds) round.step_cpu_s = 2e-3;
  const auto workers = found(advice_of(made_up.slopes(kWorkersBind)), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 8 / 16e-3, 1);
}

TEST(Advice, ADeviceBesideLoadersIsSlowerThanItsCeiling) {
  const auto workers =
      found(advice_of(MadeUpEvidence().slopes(kWorkersBind).rate(LadderRung::discard, 600)),
            "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 600, 1);
  EXPECT_EQ(workers->changes.at("workers"), "13") << "ceil(1.02 * 600 * 0.020)";
}

TEST(Advice, WorkersAreOfOneGpu) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.gpus = 2;
  made_up.evidence.settings.workers = 2;
  const auto workers = found(advice_of(made_up.slopes(kWorkersBind)), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_EQ(workers->changes.at("workers"), "11") << "ceil(20.4 / 2)";
}

// DALI's threads tell nothing of a sample: 4 reach 200 images/s together, 1000 take 21 of them.
TEST(Advice, WorkersThatCannotBeDelayedCountByWhatTheyReach) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.loader = "dali";
  made_up.stage(Stage::read, 0.1, 0.1).stage(Stage::decode, 5, 0.1);
  made_up.stage(Stage::augment, 0, 0).stage(Stage::collate, 0, 0);
  const auto workers = found(advice_of(made_up.slopes({})), "more workers");
  ASSERT_TRUE(workers);
  EXPECT_EQ(workers->changes.at("workers"), "21");
}

TEST(Advice, MoreWorkersHelpNothingElse) {
  EXPECT_FALSE(found(advice_of(MadeUpEvidence().slopes({.copy = 1})), "more workers"));
  EXPECT_FALSE(found(advice_of(MadeUpEvidence().slopes({.burnt = 1})), "more workers"));
}

TEST(Advice, RungsThatWereMeasuredAreTheirOwnPredictionTheMostFirst) {
  const auto advice = advice_of(MadeUpEvidence()
                                    .slopes({.copy = 1})
                                    .rate(LadderRung::encoded, 300)
                                    .rate(LadderRung::decoded, 500));
  ASSERT_GE(advice.size(), 2u);
  EXPECT_EQ(advice[0].options(), "--cache decoded");
  EXPECT_EQ(advice[0].predicted.mean, 500);
  EXPECT_TRUE(advice[0].predicted.ci95) << "three rounds";
  EXPECT_EQ(advice[1].options(), "--cache encoded");
}

// It was faster in two rounds, and slower in one.
TEST(Advice, ARungWhoseGainIsNotToldIsNoAdvice) {
  MadeUpEvidence made_up;
  made_up.slopes({.copy = 1}).rate(LadderRung::encoded, 300);
  EXPECT_TRUE(found(advice_of(made_up), "keep the files' bytes in memory"));
  made_up.evidence.rounds[1].rates[LadderRung::encoded] = 150;
  EXPECT_FALSE(found(advice_of(made_up), "keep the files' bytes in memory"));
}

TEST(Advice, WhatIsNotWorthItIsLeftOut) {
  const auto options = [](double rate) {
    return advice_of(MadeUpEvidence().slopes({.copy = 1}).rate(LadderRung::encoded, rate)).size();
  };
  EXPECT_EQ(options(205), 0u) << "2.5 % more";
  EXPECT_EQ(options(207), 1u) << "3.5 % more";
}

TEST(Advice, AtTheCeilingThereIsNone) {
  EXPECT_TRUE(advice_of(MadeUpEvidence()
                            .slopes({.step = 1})
                            .rate(LadderRung::none, 990)
                            .rate(LadderRung::encoded, 1000)
                            .rate(LadderRung::sample, 1000))
                  .empty());
}

// 150.5 kB are read instead of 100, in 6 ms instead of 4, and 1 ms of collating stays.
TEST(Advice, TensorsAreReadAndNotDecoded) {
  const DataAndMemory around{.bytes_per_sample = 100e3};
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).rate(LadderRung::sample, 900);
  const auto tensors = found(advice_of(made_up, around), "precached tensors");
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->options(), "--data tensor");
  EXPECT_EQ(tensors->changes.at("image-size"), "") << "as by default";
  EXPECT_NEAR(tensors->predicted.mean, 4e3 / (4 * 1.50528 + 1), 1);
  made_up.rate(LadderRung::sample, 400);
  EXPECT_NEAR(found(advice_of(made_up, around), "precached tensors")->predicted.mean, 400, 1)
      << "no faster than what is finished already";
  made_up.evidence.settings.data = "tensor";
  EXPECT_FALSE(found(advice_of(made_up, around), "precached tensors"));
}

// 750 of 256 pixels that are asked for: (256/750)^2 of the work of decoding, and of half the
// reading's.
TEST(Advice, PicturesMayBeStoredSmaller) {
  constexpr const char* kSmaller = "store pictures nearer to the input's size";
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind);
  made_up.evidence.settings.image_size = {1000, 750};
  const auto smaller = found(advice_of(made_up), kSmaller);
  ASSERT_TRUE(smaller);
  EXPECT_EQ(smaller->options(), "--image-size 341x256");
  const double saved_ms = (1 - 256.0 * 256 / 750 / 750) * (12 + 4 / 2.0);
  EXPECT_NEAR(smaller->predicted.mean, 200 * 20 / (20 - saved_ms), 2);
  made_up.evidence.settings.image_size = {500, 375};
  EXPECT_FALSE(found(advice_of(made_up), kSmaller)) << "near enough";
}

TEST(Advice, WorkersThatWaitForReadsMayHaveSeveralUnderWay) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).stage(Stage::read, 24, 1);  // 40 ms in all
  const auto reads = found(advice_of(made_up), "several reads at a time");
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->options(), "--io uring --io-depth 8");
  EXPECT_NEAR(reads->predicted.mean, 200 * 40.0 / 17, 3);
  EXPECT_FALSE(found(advice_of(made_up, {.takes_engines = false}), "several reads at a time"));
  made_up.stage(Stage::read, 2, 1);
  EXPECT_FALSE(found(advice_of(made_up), "several reads at a time")) << "1 of 18 ms";
}

TEST(Advice, WorkersThatReadPastThePageCacheMayHaveSeveralUnderWay) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).stage(Stage::read, 24, 1).evidence.settings.io = "direct";
  for (auto& round : made_up.evidence.rounds) round.page_cache = "bypassed";
  const auto reads = found(advice_of(made_up), "several reads at a time");
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->options(), "--io uring-direct --io-depth 8");
  EXPECT_THAT(reads->why, HasSubstr("if the storage serves so many reads at once"));
}

// 4 workers with 2 reads each in flight, of 40 ms each: 200 images/s of 1,000.
TEST(Advice, ReadsInFlightThatLimitMayBeTwiceAsMany) {
  MadeUpEvidence made_up;
  made_up.slopes({}).stage(Stage::read, 17, 1).stage(Stage::decode, 1, 1);
  made_up.stage(Stage::augment, 1, 1).stage(Stage::collate, 1, 1);
  made_up.evidence.settings.io = "uring-direct";
  made_up.evidence.settings.io_depth = 2;
  for (auto& round : made_up.evidence.rounds) {
    round.capacities = {{std::string(judge::kReadsInFlight), 200, 1, "read", 1}};
    for (int pair = 0; pair < 2; ++pair)
      round.pairs.push_back({measure::Place::in_flight, judge::withheld_of(2), 100, 200});
  }
  const auto advice = advice_of(made_up);
  const auto reads = found(advice, "twice the reads in flight");
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->options(), "--io-depth 4");
  EXPECT_NEAR(reads->predicted.mean, 400, 1);
  EXPECT_THAT(reads->why, HasSubstr("reads in flight: 8 at 40 ms each"));
  const auto workers = found(advice, "more workers");
  ASSERT_TRUE(workers);
  EXPECT_NEAR(workers->predicted.mean, 1000, 1) << "then the device";
  made_up.rate(LadderRung::synthetic, 300);
  EXPECT_NEAR(found(advice_of(made_up), "twice the reads in flight").value().predicted.mean, 300, 1)
      << "bounded by the next resource";
}

// A batch of 10 bounds what its worker has in flight.
TEST(Advice, ALargerDepthThanABatchHoldsIsNoAdvice) {
  const auto reads_of = [](int depth) {
    MadeUpEvidence made_up;
    made_up.slopes({}).stage(Stage::read, 17, 1).stage(Stage::decode, 1, 1);
    made_up.stage(Stage::augment, 1, 1).stage(Stage::collate, 1, 1);
    made_up.evidence.settings.io = "uring-direct";
    made_up.evidence.settings.loader = "batch";
    made_up.evidence.settings.io_depth = depth;
    for (auto& round : made_up.evidence.rounds) {
      round.capacities = {{std::string(judge::kReadsInFlight), 200, 1, "read", 1}};
      for (int pair = 0; pair < 2; ++pair)
        round.pairs.push_back({measure::Place::in_flight, judge::withheld_of(2), 100, 200});
    }
    return advice_of(made_up);
  };
  EXPECT_TRUE(found(reads_of(2), "twice the reads in flight"));
  const auto bounded = found(reads_of(8), "more reads in flight");
  ASSERT_TRUE(bounded);
  EXPECT_NEAR(bounded->predicted.mean, 200 * 10 / 8.0, 1);
  EXPECT_FALSE(found(reads_of(16), "twice the reads in flight"));
  EXPECT_FALSE(found(reads_of(16), "more reads in flight"));
}

TEST(Advice, TheDeviceMayAugment) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind);
  EXPECT_FALSE(found(advice_of(made_up), "augment on the device")) << "only a GPU does";
  made_up.evidence.settings.device_kind = "cuda";
  const auto device = found(advice_of(made_up), "augment on the device");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->options(), "--augment-on device");
  EXPECT_NEAR(device->predicted.mean, 200 * 20.0 / 17, 2);
}

TEST(Advice, TheDeviceMayDecode) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).evidence.settings.device_kind = "cuda";
  const auto device = found(advice_of(made_up), "decode on the device");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->options(), "--decoder nvjpeg");
  EXPECT_NEAR(device->predicted.mean, 200 * 20.0 / (4 + 1), 20) << "it augments as well";
  made_up.evidence.settings.data = "png";
  EXPECT_FALSE(found(advice_of(made_up), "decode on the device"));
}

// 270 kB are read instead of 90, in 12 ms instead of 4, and 12 ms of decoding are saved.
TEST(Advice, DecodedPicturesAreReadAndNotDecoded) {
  const DataAndMemory around{.bytes_per_sample = 90e3};
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind);
  const auto raw = found(advice_of(made_up, around), "store decoded pictures");
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->options(), "--data raw");
  EXPECT_NEAR(raw->predicted.mean, 200 * 20.0 / 16, 2);
  made_up.evidence.settings.data = "raw";
  EXPECT_FALSE(found(advice_of(made_up, around), "store decoded pictures"));
}

TEST(Advice, OneFileIsOpenedOnce) {
  MadeUpEvidence made_up;
  made_up.slopes(kWorkersBind).stage(Stage::read, 10, 1);  // 26 ms in all
  EXPECT_FALSE(found(advice_of(made_up), "all samples in one file"))
      << "not known what opening takes";
  for (auto& round : made_up.evidence.rounds) round.open_share = 0.6;
  const auto packed = found(advice_of(made_up), "all samples in one file");
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->options(), "--container packed");
  EXPECT_NEAR(packed->predicted.mean, 200 * 26.0 / 20, 2);
  made_up.evidence.settings.container = "tar";
  EXPECT_FALSE(found(advice_of(made_up), "all samples in one file"));
}

TEST(Advice, UnevenBatchesWantMorePrefetch) {
  MadeUpEvidence made_up;
  made_up.slopes({}).capacity("loader", "decode").evidence.settings.prefetch = 2;
  for (auto& round : made_up.evidence.rounds) round.capacities.front().imgs_per_s = 500;
  const auto prefetch = found(advice_of(made_up), "twice the prefetch");
  ASSERT_TRUE(prefetch);
  EXPECT_EQ(prefetch->options(), "--prefetch 4");
  EXPECT_NEAR(prefetch->predicted.mean, 500, 1e-6);
  EXPECT_NEAR(prefetch->predicted.ci95->low, 200, 1) << "perhaps it is something else";
  for (auto& round : made_up.evidence.rounds) round.pairs.clear();
  EXPECT_FALSE(found(advice_of(made_up.slopes(kWorkersBind)), "twice the prefetch"));
}

// A quarter of the bytes on a storage that gives no more of them.
TEST(Advice, SmallerPicturesAreLessToReadForAStorageThatBinds) {
  MadeUpEvidence made_up;
  made_up.slopes({}).slope(measure::Place::storage, false, 1);
  made_up.evidence.settings.image_size = {512, 512};
  const auto smaller = found(advice_of(made_up), "store pictures nearer to the input's size");
  ASSERT_TRUE(smaller);
  EXPECT_NEAR(smaller->predicted.mean, 800, 1);
  EXPECT_NEAR(smaller->predicted.ci95->low, 400, 1) << "small pictures compress worse";
}

// Twice the images for one averaging: 0.6 + 0.4 / 2 of the time for each.
TEST(Advice, ALargerBatchHalvesWhatAveragingCosts) {
  MadeUpEvidence made_up;
  made_up.slopes({.step = 1}).rate(LadderRung::none, 900);
  for (auto& round : made_up.evidence.rounds) round.all_reduce_share = 0.4;
  const auto batch = found(advice_of(made_up), "twice the batch");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->options(), "--batch-size 20");
  EXPECT_NEAR(batch->predicted.mean, 900 / 0.8, 1e-6);
  EXPECT_THAT(batch->why, HasSubstr("40 %"));
  for (auto& round : made_up.evidence.rounds) round.all_reduce_share = 0.05;
  EXPECT_FALSE(found(advice_of(made_up), "twice the batch"));
}

TEST(Advice, WhatAFasterStageWouldBeWorth) {
  const auto workers =
      found(advice_of(MadeUpEvidence().slopes(kWorkersBind)), "decode in half the time");
  ASSERT_TRUE(workers);
  EXPECT_EQ(workers->options(), "") << "nothing that --try could set";
  EXPECT_NEAR(workers->predicted.mean, 200 * 20.0 / 14, 3);
  const auto cpu =
      found(advice_of(MadeUpEvidence().slopes({.burnt = 1})), "decode in half the CPU time");
  ASSERT_TRUE(cpu);
  EXPECT_NEAR(cpu->predicted.mean, 200 * 14.0 / 9, 1e-6);
}

TEST(Advice, WithoutARoundThereIsNone) {
  MadeUpEvidence made_up;
  made_up.evidence.rounds.clear();
  EXPECT_TRUE(judge::advice_of(made_up.evidence, {}, {}).empty());
}

// 1.3 million pictures of 100 kB: nobody keeps them in 16 GB. `feedrate diagnose` tells of both.
// A JPEG has about a byte for each pixel at most: 1000 of 1 MB are 3 GB of pixels or more.
TEST(Advice, PicturesOfManySizesAreTakenForWhatTheyAreAtLeast) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.mixed_sizes = true;
  made_up.rate(LadderRung::decoded, 900).slopes(kWorkersBind);
  DataAndMemory around{.bytes_per_sample = 1e6, .memory_available = 4e9, .samples = 1000};
  const auto kept = found(advice_of(made_up, around), "keep decoded pictures in memory");
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->why, HasSubstr("takes at least 3,000 MB of memory"));
  around.memory_available = 3e9;
  EXPECT_FALSE(found(advice_of(made_up, around), "keep decoded pictures in memory"));
  around.memory_available = 0;
  const auto unknown = found(advice_of(made_up, around), "keep decoded pictures in memory");
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->why, HasSubstr("whether that fits is not known"));
}

TEST(Advice, StoredTensorsAreKeptAsTheyAre) {
  MadeUpEvidence made_up;
  made_up.evidence.settings.data = "tensor";
  made_up.evidence.settings.transfer = codec::Dtype::fp32;
  made_up.rate(LadderRung::sample, 900).slopes(kWorkersBind);
  const DataAndMemory around{.memory_available = 1e12, .samples = 1000};
  const auto kept = found(advice_of(made_up, around), "keep finished samples in memory");
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->why, HasSubstr("takes 602 MB of memory")) << "1000 * 224 * 224 * 3 * 4";
}

TEST(Advice, WhatDoesNotFitIntoMemoryIsNotAdvised) {
  const DataAndMemory around{.bytes_per_sample = 100e3, .memory_available = 16e9, .samples = 1.3e6};
  EXPECT_TRUE(advice_of(MadeUpEvidence().slopes({.copy = 1}).rate(LadderRung::encoded, 900), around)
                  .empty());
}

}  // namespace
}  // namespace feedrate::tests
