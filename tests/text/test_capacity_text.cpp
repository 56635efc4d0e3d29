#include "text/capacity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const measure::Estimate kSlow{526, measure::Interval{510, 540}},
    kFast{2831, measure::Interval{2800, 2860}};

// One worker with one read at a time, then four with eight each.
session::ReadsFound searched_reads() {
  session::ReadsFound reads{.chosen = {.workers = 4, .depth = 8},
                            .is_searched = true,
                            .more_adds_nothing = true,
                            .first_read_ms = 20.6};
  reads.readings[{.workers = 1, .depth = 1}] = {{.imgs_per_s = 47}};
  reads.readings[{.workers = 4, .depth = 8}] = {{.imgs_per_s = 1510}};
  return reads;
}

TEST(CapacityText, SaysWhatReadsInFlightGain) {
  session::ReadsFound reads = searched_reads();
  EXPECT_EQ(text::in_flight_text(reads),
            "one read at a time takes 20.6 ms: 47.0 img/s; 32 in flight (4 workers x depth 8 a "
            "GPU): 1,510 img/s, and more gave less than 5 % more");
  reads.chosen = {.workers = 1, .depth = 1};
  EXPECT_EQ(text::in_flight_text(reads),
            "one read at a time takes 20.6 ms: 47.0 img/s, and more gave less than 5 % more");
  reads.more_adds_nothing = false;
  reads.most = {.workers = 2, .depth = 16};
  EXPECT_THAT(text::in_flight_text(reads), HasSubstr("the search ends at 2 workers x depth 16"));
  reads.limit = "memory: too little";
  EXPECT_THAT(text::in_flight_text(reads), HasSubstr("and more was not tried: memory: too little"));
}

// 0.00822 ms are 121,655 reads a second.
TEST(CapacityText, ARateIsLaidOnAReadOnlyWhereThatTakesTheTime) {
  session::ReadsFound reads = searched_reads();
  reads.first_read_ms = 0.00822;
  reads.readings.begin()->second = {{.imgs_per_s = 4472, .read_share = 0.1}};
  const std::string begins = "one read at a time: 4,472 img/s (a read takes 0.00822 ms, ";
  EXPECT_THAT(text::in_flight_text(reads), StartsWith(begins + "the rest is decoding); 32 in "));
  reads.decodes = false;
  EXPECT_THAT(text::in_flight_text(reads), StartsWith(begins + "which is not what takes most"));
  reads.decodes = true;
  reads.readings.begin()->second.front().read_share = 0.9;
  EXPECT_THAT(text::in_flight_text(reads), StartsWith(begins + "which is not what takes most"))
      << "opening takes it";
}

TEST(CapacityText, SaysThatTheCpusWereBusyWhereMoreReadsGainedNothing) {
  session::ReadsFound reads = searched_reads();
  const judge::LoaderReads fewer{.workers = 4, .depth = 1}, more{.workers = 8, .depth = 8};
  reads.readings[fewer] = {{.imgs_per_s = 1200, .cpus_busy = 1}};
  reads.readings[more] = {{.imgs_per_s = 1520, .cpus_busy = 0.5}};
  EXPECT_THAT(text::in_flight_text(reads), EndsWith("gave less than 5 % more"));
  reads.readings[more].front().cpus_busy = 0.97;
  EXPECT_THAT(text::in_flight_text(reads),
              EndsWith("gave less than 5 % more, with CPUs that were 97.0 % busy"));
  EXPECT_THAT(text::limit_text(kSlow, kFast, reads, 0, 0),
              AllOf(StartsWith("the storage or this machine's CPUs: it gave 526"),
                    EndsWith("with more reads in flight, with CPUs that were 97.0 % busy")));
}

TEST(CapacityText, SaysThatWhatWasTypedIsAllThatWasTried) {
  const session::ReadsFound reads{.typed = {.workers = true, .depth = true},
                                  .chosen = {.workers = 2, .depth = 4}};
  EXPECT_EQ(text::in_flight_text(reads),
            "8 in flight (2 workers x depth 4 a GPU), as typed; more was not tried");
}

// It asks the storage for no more, and is the limit only where more workers, which decode, were
// tried and gained nothing.
TEST(CapacityText, NamesTheOneReaderOnlyWhereMoreWorkersWereTried) {
  for (const std::string reader : {"--loader dali", "--container hdf5"}) {
    session::ReadsFound reads{.chosen = {.workers = 4, .depth = 1},
                              .is_searched = true,
                              .more_adds_nothing = true,
                              .one_reader = reader};
    reads.readings[{.workers = 1, .depth = 1}] = {{.imgs_per_s = 470}};
    reads.readings[{.workers = 4, .depth = 1}] = {{.imgs_per_s = 1510}};
    EXPECT_EQ(
        text::in_flight_text(reads),
        "one at a time, as " + reader +
            " has one reader; 4 workers a GPU: 1,510 img/s, and more gave less than 5 % more");
    EXPECT_THAT(
        text::limit_text(kSlow, kFast, reads, 0, 0),
        AllOf(StartsWith("the one reader of " + reader),
              HasSubstr("One GPU's loader alone got less than 5 % more with more workers")));
    reads.more_adds_nothing = false;
    EXPECT_THAT(text::limit_text(kSlow, kFast, reads, 0, 0), StartsWith("not known: "));
    const session::ReadsFound typed{.chosen = {.workers = 4, .depth = 1}, .one_reader = reader};
    EXPECT_EQ(text::in_flight_text(typed),
              "one at a time, as " + reader +
                  " has one reader; 4 workers a GPU, as typed; more was not tried");
    EXPECT_THAT(text::limit_text(kSlow, kFast, typed, 0, 0), HasSubstr("leave out --workers"));
    EXPECT_THAT(text::limit_text(kSlow, kSlow, typed, 0, 0), HasSubstr("more --workers"));
  }
}

TEST(CapacityText, SaysWhyNothingWasSearchedFor) {
  const session::ReadsFound reads{.limit = "memory: too little"};
  EXPECT_THAT(text::in_flight_text(reads), HasSubstr("more was not tried: memory: too little"));
  EXPECT_THAT(text::limit_text(kSlow, kFast, reads, 0, 0),
              HasSubstr("not tried: memory: too little"));
}

TEST(CapacityText, BlamesTheStorageOnlyWhereMoreReadsWereTried) {
  const session::ReadsFound searched = searched_reads();
  EXPECT_THAT(text::limit_text(kSlow, kFast, searched, 0, 0),
              AllOf(StartsWith("the storage: it gave 526 (95 %: 510 to 540) img/s, memory 2,831"),
                    EndsWith(". One GPU's loader alone got 1,510 img/s, and less than 5 % more "
                             "with more reads in flight")))
      << "it was searched with one GPU alone";
  const session::ReadsFound typed{.typed = {.workers = true, .depth = true}};
  const std::string as_typed = text::limit_text(kSlow, kFast, typed, 0, 0);
  EXPECT_THAT(as_typed, StartsWith("not known: it gave 526"));
  EXPECT_THAT(as_typed, HasSubstr("leave out --workers and --io-depth"));
  session::ReadsFound still_gaining = searched;
  still_gaining.more_adds_nothing = false;
  EXPECT_THAT(text::limit_text(kSlow, kFast, still_gaining, 0, 0),
              StartsWith("the storage or the reads in flight: "));
  session::ReadsFound few_workers = searched;
  few_workers.typed.workers = true;
  EXPECT_THAT(text::limit_text(kSlow, kFast, few_workers, 0, 0),
              AllOf(StartsWith("the storage, as far as --workers 4 ask it: "),
                    EndsWith("with a larger depth; more workers were not tried")));
  EXPECT_THAT(text::in_flight_text(few_workers),
              EndsWith("and a larger depth gave less than 5 % more; more workers were not tried"));
}

TEST(CapacityText, TheMachineIsTheLimitWhateverWasTried) {
  const session::ReadsFound typed{.typed = {.workers = true, .depth = true}};
  EXPECT_THAT(text::limit_text(kSlow, kSlow, typed, 0.8, 0),
              StartsWith("this machine: from memory its workers (1 a GPU) beside steps of 0.8 ms"));
  EXPECT_THAT(text::limit_text(kSlow, kSlow, searched_reads(), 0, 0), Not(HasSubstr("--workers")));
}

TEST(CapacityText, AdvisesMoreCpusOnlyWhereTheyWereBusy) {
  const session::ReadsFound typed{.typed = {.workers = true, .depth = true}};
  for (const session::ReadsFound& reads : {typed, searched_reads()}) {
    EXPECT_THAT(text::limit_text(kSlow, kSlow, reads, 0, 0.97),
                HasSubstr("Its CPUs were 97.0 % busy then: use more CPUs. "));
    EXPECT_THAT(text::limit_text(kSlow, kSlow, reads, 0, 0),
                HasSubstr("How busy its CPUs were is not known: more CPUs "));
    EXPECT_THAT(text::limit_text(kSlow, kSlow, reads, 0, 0.4), Not(HasSubstr("use more CPUs")));
  }
  EXPECT_THAT(text::limit_text(kSlow, kSlow, typed, 0, 0.4),
              HasSubstr("40.0 % busy then: try more --workers before more CPUs"));
  EXPECT_THAT(text::limit_text(kSlow, kSlow, searched_reads(), 0, 0.4),
              HasSubstr("40.0 % busy then: more of them alone need not help"));
  EXPECT_THAT(text::limit_text(kSlow, kSlow, typed, 0, 1.01), HasSubstr("100.0 % busy"));
}

TEST(CapacityText, NamesNeitherWhereTheIntervalsAllowBoth) {
  const measure::Estimate uneven{620, measure::Interval{450, 800}};
  EXPECT_THAT(text::limit_text(kSlow, uneven, searched_reads(), 0, 0),
              StartsWith("not clear between the storage and this machine: "));
}

std::string printed_for(const plan::AxisValues& axes, const session::ReadsFound& reads) {
  plan::AxisValues values{{"data", {"jpeg"}}, {"gpus", {"1"}}};
  for (const auto& [axis, typed] : axes) values[axis] = typed;
  const session::SearchedCell searched = session::searched_cell(plan::expand(values).at(0));
  const session::Found found{.search = {{session::kLeastUtilisation}, {1, 1, 1}},
                             .without_cpu = {}};
  testing::internal::CaptureStdout();
  text::CapacityAnswer(searched, reads, found).print({}, /*own_h200=*/false);
  return testing::internal::GetCapturedStdout();
}

struct Tried {
  int fed = 1, starved = 0;  // GPUs; 0: none was tried that starves
  double memory = 29089;     // images/s
};

// GPUs that were fed, and what they were fed with.
std::string answered_for(const plan::AxisValues& axes,
                         const session::Reading& reading = {.imgs_per_s = 2400},
                         const Tried& tried = {}) {
  plan::AxisValues values{{"data", {"jpeg"}}, {"device", {"emulated:2400"}}, {"gpus", {"1"}}};
  for (const auto& [axis, typed] : axes) values[axis] = typed;
  const session::SearchedCell searched = session::searched_cell(plan::expand(values).at(0));
  session::Found found{.search = {{session::kLeastUtilisation}, {1, 1, 1}}, .without_cpu = {}};
  found.search.add(tried.fed, {.utilisation = 1, .ci95 = {}});
  found.readings[tried.fed] = {reading};
  if (tried.starved > 0) {
    found.search.add(tried.starved, {.utilisation = 0.5, .ci95 = {}});
    found.readings[tried.starved] = {reading};
  }
  session::ClientLimit client;
  client.runs = {{.imgs_per_s = tried.memory}};
  testing::internal::CaptureStdout();
  const session::ReadsFound reads;
  const text::CapacityAnswer answer(searched, reads, found);
  answer.print(client, /*own_h200=*/false);
  answer.print_client(client);
  return testing::internal::GetCapturedStdout();
}

// `utilisation`: by the number of GPUs that was tried.
std::string interrupted_after(const std::map<int, double>& utilisation,
                              const session::ReadsFound& reads = {}) {
  const session::SearchedCell searched = session::searched_cell(
      plan::expand({{"data", {"jpeg"}}, {"device", {"emulated:2400"}}, {"gpus", {"1"}}}).at(0));
  session::Found found{
      .search = {{session::kLeastUtilisation}, {1, 64, 1}}, .without_cpu = {}, .interrupted = 130};
  for (const auto& [gpus, share] : utilisation) {
    found.search.add(gpus, {.utilisation = share, .ci95 = {}});
    found.readings[gpus] = {{.imgs_per_s = 2400}};
  }
  testing::internal::CaptureStdout();
  text::CapacityAnswer(searched, reads, found).print({}, /*own_h200=*/true);
  return testing::internal::GetCapturedStdout();
}

TEST(CapacityText, AnInterruptedSearchSaysWhatItHasShownSoFar) {
  const std::string begins = "DO NOT QUOTE: interrupted before the search was over\nEMULATED GPUs";
  const std::string fed = interrupted_after({{1, 0.99}, {2, 0.97}});
  EXPECT_THAT(fed, AllOf(StartsWith(begins), HasSubstr("medians of the runs"),
                         HasSubstr("\nAU of 90 % or more, so far: at least 2 GPUs\n"),
                         Not(HasSubstr("own H200"))));
  const std::string both = interrupted_after({{1, 0.99}, {2, 0.92}, {4, 0.5}});
  EXPECT_THAT(
      both, AllOf(HasSubstr("\nAU of 90 % or more, so far: at least 2 GPUs, fewer than 4 GPUs\n"),
                  HasSubstr("\nAU of 95 % or more, so far: at least 1 GPU, fewer than 2 GPUs\n")));
  EXPECT_THAT(interrupted_after({{1, 0.5}}),
              HasSubstr("\nAU of 90 % or more, so far: fewer than 1 GPU\n"));
}

TEST(CapacityText, InterruptedBeforeAnyGpusItSaysWhatOneLoaderGot) {
  const char* said =
      "DO NOT QUOTE: interrupted before the search was over\n"
      "so far one GPU's loader got 1,510 img/s (4 workers x depth 8); no GPUs were tried yet\n";
  EXPECT_EQ(text::interrupted_reads_text(searched_reads()), said);
  EXPECT_EQ(interrupted_after({}, searched_reads()), said);
  EXPECT_EQ(text::interrupted_reads_text({}), "") << "nothing was measured";
  EXPECT_EQ(interrupted_after({}), "");
}

// A read of a shard is no file.
TEST(CapacityText, CountsFilesOnlyWhereEachSampleIsOne) {
  EXPECT_THAT(answered_for({}), HasSubstr(", 2,160 files/s\n"));
  for (const char* container : {"tar", "packed"})
    EXPECT_THAT(answered_for({{"container", {container}}}),
                AllOf(HasSubstr(", 2,160 samples/s\n"), Not(HasSubstr("files/s"))));
}

TEST(CapacityText, OneGpuNeedsAndTwoNeed) {
  EXPECT_THAT(answered_for({}), HasSubstr("1 GPU, which needs 0.0 MB/s, "));
  EXPECT_THAT(answered_for({}, {.imgs_per_s = 4800}, {.fed = 2}), HasSubstr("which need 0.0 MB/s"));
}

TEST(CapacityText, WhatARateIsEnoughForWasNotTried) {
  EXPECT_THAT(answered_for({}),
              HasSubstr(", enough for 13 GPUs at 90 %: by the rate alone, not tried\n"));
}

TEST(CapacityText, WhatWasFedCountsMoreThanALowerRateFromMemory) {
  const std::string said = answered_for({{"device", {"emulated:1200"}}}, {.imgs_per_s = 2400},
                                        {.fed = 2, .starved = 4, .memory = 1500});
  EXPECT_THAT(said,
              HasSubstr(", enough for 1 GPU at 90 %: by the rate alone, but the 2 that were tried "
                        "and fed count\n"));
  EXPECT_THAT(said,
              HasSubstr("what limits beyond: not clear between the storage and this machine"));
  EXPECT_THAT(said, EndsWith(": memory gave less than the storage\n"));
}

TEST(CapacityText, WhatCameFromThePageCacheIsNoStorage) {
  for (const double memory : {29089.0, 2400.0, 2640.0}) {
    const std::string said = answered_for(
        {{"page-cache", {"warm"}}},
        {.imgs_per_s = 2400, .ci95 = measure::Interval{2390, 2410}, .from_page_cache = true},
        {.starved = 2, .memory = memory});
    EXPECT_THAT(said, HasSubstr("\nfrom the page cache: no storage was measured\n"));
    EXPECT_THAT(said, HasSubstr(" from the page cache\n")) << "what the GPUs take";
    EXPECT_THAT(said, HasSubstr("what limits beyond: "));
    const std::string rest = said.substr(said.find("no storage was measured") + 23);
    EXPECT_THAT(rest, Not(HasSubstr("storage")));
  }
  EXPECT_THAT(answered_for({}), Not(HasSubstr("from the page cache")));
}

TEST(CapacityText, SaysEachRateOnce) {
  for (const char* rate : {"50", "2400"}) {
    const std::string said =
        printed_for({{"device", {"emulated:" + std::string(rate)}}, {"batch-size", {"256"}}}, {});
    EXPECT_THAT(said, HasSubstr("EMULATED GPUs: " + std::string(rate) +
                                " img/s (EMULATED; given on the command line); "));
    EXPECT_THAT(said, Not(HasSubstr(" img/s each")));
  }
  EXPECT_THAT(printed_for({{"device", {"emulated:a100"}}, {"input-size", {"128"}}}, {}),
              AllOf(HasSubstr(" (EMULATED; "), HasSubstr("), "), HasSubstr(" img/s each; ")))
      << "its name holds the rate of another size";
}

TEST(CapacityText, ShowsNoMoreReadsThanABatchHolds) {
  const plan::AxisValues axes{{"device", {"emulated:2400"}},
                              {"loader", {"batch"}},
                              {"batch-size", {"16"}},
                              {"io", {"uring-direct"}},
                              {"io-depth", {"64"}}};
  EXPECT_THAT(printed_for(axes, {}), HasSubstr(", depth 16 (a batch holds no more), "));
}

TEST(CapacityText, WhatSpoiltTheSearchOverReadsInFlightIsSaidFirst) {
  session::ReadsFound reads = searched_reads();
  ledger::Record record;
  record.result.measurement.emplace();
  record.flags = {{"page_cache", judge::Severity::serious, "all of it lay in memory", "look"}};
  reads.seen.add(record, "reads in flight, 1 worker x depth 1");
  const std::string said = printed_for({{"device", {"emulated:2400"}}}, reads);
  EXPECT_THAT(said, StartsWith("DO NOT QUOTE: page_cache"));
  EXPECT_THAT(said, HasSubstr("\n  serious"));
}

TEST(CapacityText, TheProvisoDoesNotClaimAnothersDefinition) {
  const session::SearchedCell searched{.cell = {}, .settings = {}, .device = {}};
  const session::ReadsFound reads;
  const session::Found found{.search = {{}, {}}, .without_cpu = {}};
  testing::internal::CaptureStdout();
  text::CapacityAnswer(searched, reads, found).print_proviso();
  EXPECT_THAT(
      testing::internal::GetCapturedStdout(),
      HasSubstr("MLPerf Storage takes it over a whole run but for the first step's reading"));
}

}  // namespace
}  // namespace feedrate::tests
