#include "text/capacity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace feedrate::tests {
namespace {

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
            "GPU): 1,510 img/s, and more adds nothing");
  reads.chosen = {.workers = 1, .depth = 1};
  EXPECT_EQ(text::in_flight_text(reads),
            "one read at a time takes 20.6 ms: 47.0 img/s, and more adds nothing");
  reads.more_adds_nothing = false;
  reads.limit = "memory: too little";
  EXPECT_THAT(text::in_flight_text(reads), HasSubstr("and more was not tried: memory: too little"));
  reads.serious = "stopped";
  EXPECT_THAT(text::in_flight_text(reads), HasSubstr("(serious flags: stopped)"));
}

TEST(CapacityText, SaysThatWhatWasTypedIsAllThatWasTried) {
  const session::ReadsFound reads{.typed = {.workers = true, .depth = true},
                                  .chosen = {.workers = 2, .depth = 4}};
  EXPECT_EQ(text::in_flight_text(reads),
            "8 in flight (2 workers x depth 4 a GPU), as typed; more was not tried");
}

TEST(CapacityText, BlamesTheStorageOnlyWhereMoreReadsWereTried) {
  const session::ReadsFound searched = searched_reads();
  EXPECT_THAT(text::limit_text(kSlow, kFast, searched, 0),
              StartsWith("the storage: it gave 526 (95 %: 510 to 540) img/s, memory 2,831"));
  const session::ReadsFound typed{.typed = {.workers = true, .depth = true}};
  const std::string as_typed = text::limit_text(kSlow, kFast, typed, 0);
  EXPECT_THAT(as_typed, StartsWith("not known: it gave 526"));
  EXPECT_THAT(as_typed, HasSubstr("leave out --workers and --io-depth"));
  session::ReadsFound still_gaining = searched;
  still_gaining.more_adds_nothing = false;
  EXPECT_THAT(text::limit_text(kSlow, kFast, still_gaining, 0),
              StartsWith("the storage or the reads in flight: "));
  session::ReadsFound few_workers = searched;
  few_workers.typed.workers = true;
  EXPECT_THAT(text::limit_text(kSlow, kFast, few_workers, 0),
              StartsWith("the storage, as far as --workers 4 ask it: "));
}

TEST(CapacityText, TheMachineIsTheLimitWhateverWasTried) {
  const session::ReadsFound typed{.typed = {.workers = true, .depth = true}};
  EXPECT_THAT(text::limit_text(kSlow, kSlow, typed, 0.8),
              StartsWith("this machine: from memory its workers (1 a GPU) beside steps of 0.8 ms"));
  EXPECT_THAT(text::limit_text(kSlow, kSlow, searched_reads(), 0), Not(HasSubstr("--workers")));
}

TEST(CapacityText, NamesNeitherWhereTheIntervalsAllowBoth) {
  const measure::Estimate uneven{620, measure::Interval{450, 800}};
  EXPECT_THAT(text::limit_text(kSlow, uneven, searched_reads(), 0),
              StartsWith("not clear between the storage and this machine: "));
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
