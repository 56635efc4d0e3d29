#include "session/search_time.h"

#include <gtest/gtest.h>

#include "plan/expand.h"
#include "session/precise_sweep.h"
#include "session/reads_in_flight_search.h"

namespace feedrate::tests {
namespace {

session::SearchedCell timed_cell(const plan::AxisValues& others) {
  plan::AxisValues values{{"data", {"jpeg"}},
                          {"device", {"emulated:100"}},
                          {"batch-size", {"16"}},
                          {"gpus", {"1"}},
                          {"io", {"direct"}}};
  for (const auto& [axis, typed] : others) values[axis] = typed;
  return session::searched_cell(plan::expand(values).at(0));
}

run::RunLimits limits_of_a_search() {
  run::RunLimits limits;
  limits.warmup_seconds = 1, limits.max_warmup_seconds = 2;
  limits.min_seconds = 4, limits.max_seconds = 5;
  return limits;
}

// The one of docs/storage.md took 136 s.
TEST(ExpectedSearchTime, IsAboutWhatASearchTook) {
  const double s =
      session::expected_search_s(timed_cell({}), /*reads_axes=*/1, limits_of_a_search(), {}, true);
  EXPECT_GT(s, 136 / 1.5);
  EXPECT_LT(s, 136 * 1.5);
}

TEST(ExpectedSearchTime, IsThatOfItsParts) {
  const session::SearchedCell cell = timed_cell({});
  const run::RunLimits limits = limits_of_a_search();
  const auto expected = [&](int reads_axes, const session::SearchOptions& options, bool client) {
    return session::expected_search_s(cell, reads_axes, limits, options, client);
  };
  const double one_run = expected(0, {.most_gpus = 1, .repetitions = 1}, false);
  EXPECT_GE(one_run, session::least_seconds(limits));
  EXPECT_LT(one_run, 2 * session::least_seconds(limits));
  EXPECT_DOUBLE_EQ(expected(0, {.most_gpus = 1, .repetitions = 3}, false), 3 * one_run);
  EXPECT_DOUBLE_EQ(expected(0, {.most_gpus = 64, .repetitions = 1}, false), 7 * one_run)
      << "1, 2, 4, ... 64 GPUs";
  EXPECT_GT(expected(0, {}, true), expected(0, {}, false));
  EXPECT_GT(expected(1, {}, true), expected(0, {}, true));
  EXPECT_GT(expected(2, {}, true), expected(1, {}, true));
}

TEST(ExpectedSearchTime, CountsTheSearchWithoutTheHostsCpu) {
  const auto expected = [](const char* ms) {
    return session::expected_search_s(timed_cell({{"host-cpu-ms", {ms}}}), 0, limits_of_a_search(),
                                      {}, false);
  };
  EXPECT_GT(expected("20"), expected("0")) << "of steps of 160 ms";
}

TEST(SearchedReadsAxes, AreThoseThatNobodyTyped) {
  const session::SearchedCell direct = timed_cell({}), deep = timed_cell({{"io", {"uring"}}});
  EXPECT_EQ(session::searched_reads_axes(direct, {}), 1) << "--io direct takes no depth";
  EXPECT_EQ(session::searched_reads_axes(deep, {}), 2);
  EXPECT_EQ(session::searched_reads_axes(deep, {.workers = true}), 1);
  EXPECT_EQ(session::searched_reads_axes(deep, {.workers = true, .depth = true}), 0);
}

}  // namespace
}  // namespace feedrate::tests
