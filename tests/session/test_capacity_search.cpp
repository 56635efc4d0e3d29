#include "session/capacity_search.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/published_rates.h"
#include "plan/expand.h"
#include "session/reads_in_flight_search.h"

namespace feedrate::tests {
namespace {

using session::Limit;

session::SearchedCell cell_to_search(const plan::AxisValues& others) {
  plan::AxisValues values{{"data", {"jpeg"}}, {"device", {"emulated:1000"}}, {"gpus", {"1"}}};
  for (const auto& [axis, typed] : others) values[axis] = typed;
  return session::searched_cell(plan::expand(values).at(0));
}

TEST(LimitBeyond, ComparesTheIntervals) {
  const measure::Estimate storage{1000, measure::Interval{950, 1050}};
  EXPECT_EQ(session::limit_beyond(storage, {2000, measure::Interval{1900, 2100}}), Limit::storage);
  EXPECT_EQ(session::limit_beyond(storage, {1000, measure::Interval{960, 1040}}), Limit::machine);
  // Of the means alone it would be the storage.
  EXPECT_EQ(session::limit_beyond(storage, {1200, measure::Interval{900, 1500}}), Limit::not_clear);
  EXPECT_EQ(session::limit_beyond(storage, {1120, {}}), Limit::not_clear);
  EXPECT_EQ(session::limit_beyond(storage, {640, measure::Interval{400, 1010}}), Limit::not_clear);
  EXPECT_EQ(session::limit_beyond(storage, {640, measure::Interval{630, 650}}), Limit::not_clear)
      << "memory is no slower than the storage";
  EXPECT_EQ(session::limit_beyond({1000, {}}, {1120, {}}), Limit::storage);
}

TEST(RateOf, HasAnIntervalOverThreeRunsOrOfTheirSteps) {
  const session::Reading one{.imgs_per_s = 100, .ci95 = measure::Interval{95, 105}},
      other{.imgs_per_s = 110, .ci95 = measure::Interval{100, 120}}, unknown{.imgs_per_s = 120};
  EXPECT_DOUBLE_EQ(session::rate_of({one}).ci95->high, 105);
  EXPECT_DOUBLE_EQ(session::rate_of({one, other}).ci95->low, 95);
  EXPECT_DOUBLE_EQ(session::rate_of({one, other}).ci95->high, 120);
  EXPECT_FALSE(session::rate_of({one, unknown}).ci95);
  const measure::Estimate of_three = session::rate_of({one, other, unknown});
  ASSERT_TRUE(of_three.ci95);
  EXPECT_LT(of_three.ci95->low, 100);
  EXPECT_GT(of_three.ci95->high, 120);
}

TEST(MedianOf, OneSpoiltRunDoesNotMoveIt) {
  const session::Reading good{.imgs_per_s = 100, .reads_per_s = 100, .p99_ms = 5},
      spoilt{.imgs_per_s = 10, .reads_per_s = 10, .p99_ms = {}};
  const session::Reading middle = session::median_of({good, spoilt, good});
  EXPECT_DOUBLE_EQ(middle.imgs_per_s, 100);
  EXPECT_DOUBLE_EQ(middle.reads_per_s, 100);
  EXPECT_DOUBLE_EQ(middle.p99_ms.value(), 5);
}

// Where the counters contradict what was asked for, these count.
TEST(ReadingOf, TellsThePageCacheFromTheStorage) {
  run::CellResult result;
  run::Measurement& m = result.measurement.emplace();
  m.window_s = 1, m.imgs_per_s = 100;
  m.stages[measure::Stage::read].bytes = 1000;
  const auto is_cached = [&](const char* state, double fetched, double before) {
    m.page_cache.state = state, m.page_cache.before = before, m.storage_read_bytes = fetched;
    return session::reading_of(result).from_page_cache;
  };
  EXPECT_TRUE(is_cached("warm", 0, 1));
  EXPECT_TRUE(is_cached("warm", -1, -1)) << "it was asked for";
  EXPECT_FALSE(is_cached("warm", 900, 1)) << "it had left";
  EXPECT_TRUE(is_cached("as-is", 50, 0.2));
  EXPECT_FALSE(is_cached("as-is", 0, 0.2)) << "a file system that does not count";
  EXPECT_FALSE(is_cached("as-is", -1, 1));
  EXPECT_FALSE(is_cached("cold", 0, 0));
  EXPECT_FALSE(is_cached("bypassed", 50, 1));
}

TEST(AreFromPageCache, OneRunFromTheStorageIsEnough) {
  const session::Reading cached{.from_page_cache = true}, stored;
  const session::Readings all{{1, {cached}}, {2, {cached, cached}}},
      mixed{{1, {cached}}, {2, {cached, stored}}};
  EXPECT_FALSE(session::are_from_page_cache({}));
  EXPECT_TRUE(session::are_from_page_cache(all));
  EXPECT_FALSE(session::are_from_page_cache(mixed));
}

TEST(FastestRuns, AreThoseOfTheLargestMedian) {
  const session::Reading slow{.imgs_per_s = 100}, fast{.imgs_per_s = 200}, lucky{.imgs_per_s = 900};
  const session::Readings readings{{1, {slow, slow, lucky}}, {2, {fast, fast}}};
  EXPECT_EQ(session::fastest_runs(readings).size(), 2u);
  EXPECT_DOUBLE_EQ(session::most_imgs_per_s(readings), 200);
  EXPECT_DOUBLE_EQ(session::most_imgs_per_s(session::Readings{}), 0);
}

TEST(BurnsMuch, MoreThanATenthOfAStep) {
  const auto burning = [](const char* ms) {
    return cell_to_search({{"batch-size", {"100"}}, {"host-cpu-ms", {ms}}});  // steps of 100 ms
  };
  EXPECT_FALSE(session::burns_much(burning("0")));
  EXPECT_FALSE(session::burns_much(burning("9")));
  EXPECT_TRUE(session::burns_much(burning("11")));
}

// 47 images/s, of one read of 20 ms at a time, and 105, of a device of 12 MB/s.
TEST(LongestWindow, HoldsEnoughStepsOfASlowStorage) {
  constexpr double kFewest = 10;  // fewer are flagged, seriously
  run::RunLimits limits;
  limits.min_seconds = 4, limits.max_seconds = 5;
  const session::SearchOptions options;
  const session::SearchedCell searched =
      cell_to_search({{"device", {"emulated:2470"}}, {"batch-size", {"256"}}});
  for (const auto& [imgs_per_s, gpus] : {std::pair{47.0, 1}, {105.0, 1}, {105.0, 2}}) {
    const double step_s = session::expected_step_s(256 * gpus, imgs_per_s, searched.step_s);
    EXPECT_NEAR(step_s, 256 * gpus / imgs_per_s, 1e-9);
    EXPECT_GE(session::longest_window_s(limits, step_s, options), kFewest * step_s) << imgs_per_s;
  }
  const double fast_s = session::expected_step_s(256, 1e6, searched.step_s);
  EXPECT_DOUBLE_EQ(fast_s, searched.step_s) << "the device takes so long";
  EXPECT_DOUBLE_EQ(session::longest_window_s(limits, fast_s, options), 5);
  const double unknown_s = session::expected_step_s(256, 0, searched.step_s);
  EXPECT_DOUBLE_EQ(session::longest_window_s(limits, unknown_s, options), options.slow_window_s);
  EXPECT_DOUBLE_EQ(session::longest_window_s(limits, unknown_s, {.slow_window_s = 0}), 5)
      << "--max-seconds was typed";
  EXPECT_GE(session::short_limits({}).min_steps, kFewest);
}

// Of 64 workers no more batches lie ahead than there is room for.
TEST(CheckColdPass, CountsWhatTheQueuesHold) {
  const run::RunLimits limits{.min_seconds = 4};
  const auto check = [&](const char* workers, std::size_t batches) {
    const auto searched = cell_to_search({{"device", {"emulated:2560"}},
                                          {"page-cache", {"cold"}},
                                          {"batch-size", {"256"}},
                                          {"workers", {workers}}});
    session::check_cold_pass(searched, 256 * batches, 1, limits);
  };
  EXPECT_NO_THROW(check("1", 50));
  EXPECT_NO_THROW(check("64", 50));
  EXPECT_THROW(check("1", 20), Error);
}

// It begins and ends with none.
TEST(CheckSamples, AColdPassHoldsTwentyOfEachRead) {
  const auto cold = cell_to_search({{"page-cache", {"cold"}}});
  EXPECT_NO_THROW(session::check_samples(cold, {.workers = 4, .depth = 8}, 640));
  EXPECT_THROW(session::check_samples(cold, {.workers = 4, .depth = 8}, 639), Error);
  const auto warm = cell_to_search({{"page-cache", {"warm"}}});
  EXPECT_NO_THROW(session::check_samples(warm, {.workers = 4, .depth = 8}, 10));
}

TEST(InFlightCell, ItsBatchesAreSmallAndBoundNoReads) {
  const auto batch = [](const plan::AxisValues& others, const judge::LoaderReads& reads) {
    plan::AxisValues values{{"batch-size", {"256"}}, {"io", {"uring"}}};
    for (const auto& [axis, typed] : others) values[axis] = typed;
    const plan::CellSettings settings =
        plan::settings_of(session::in_flight_cell(cell_to_search(values), reads));
    EXPECT_EQ(settings.io_depth, reads.depth);
    return settings.batch_size;
  };
  EXPECT_EQ(batch({}, {.workers = 1, .depth = 1}), 8);
  EXPECT_EQ(batch({}, {.workers = 1, .depth = 16}), 16);
  EXPECT_EQ(batch({}, {.workers = 64, .depth = 64}), 32);
  EXPECT_EQ(batch({{"batch-size", {"4"}}}, {.workers = 1, .depth = 16}), 4);
  EXPECT_EQ(batch({{"loader", {"batch"}}}, {.workers = 1, .depth = 1}), 256);
  EXPECT_EQ(batch({{"workers", {"0"}}}, {.workers = 0, .depth = 2}), 256);
}

TEST(SearchedCellWith, ReadsAsManyAndIsElseTheSame) {
  const session::SearchedCell asked = cell_to_search({{"io", {"uring"}}});
  const session::SearchedCell found =
      session::searched_cell_with(asked, {.workers = 4, .depth = 8});
  EXPECT_EQ(found.settings.workers, 4);
  EXPECT_EQ(found.settings.io_depth, 8);
  EXPECT_EQ(found.settings.io, "uring");
  EXPECT_DOUBLE_EQ(found.step_s, asked.step_s);
}

// What was typed stays where a batch holds no more anyway.
TEST(SearchedCellWith, ADepthThatABatchBoundsStays) {
  const session::SearchedCell asked = cell_to_search(
      {{"io", {"uring"}}, {"loader", {"batch"}}, {"batch-size", {"16"}}, {"io-depth", {"64"}}});
  EXPECT_TRUE(
      session::searched_cell_with(asked, {.workers = 2, .depth = 16}).cell.is("io-depth", "64"));
  EXPECT_TRUE(
      session::searched_cell_with(asked, {.workers = 2, .depth = 8}).cell.is("io-depth", "8"));
}

TEST(OwnH200Rate, IsKnownWhereItIsPublished) {
  bool is_published = false;
  for (const device::PublishedRate& rate : device::published_rates())
    is_published = is_published || rate.name == session::kOwnH200;
  EXPECT_EQ(session::own_h200_rate(cell_to_search({})).has_value(), is_published);
}

}  // namespace
}  // namespace feedrate::tests
