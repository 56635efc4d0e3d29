#include "session/search_windows.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

run::RunLimits usual_limits() {
  run::RunLimits limits;
  limits.min_seconds = 4, limits.max_seconds = 5;
  return limits;
}

// A cold one, whose window lasts as long as it may.
plan::Cell cold_cell() {
  return plan::expand({{"data", {"jpeg"}},
                       {"device", {"emulated:1000"}},
                       {"gpus", {"1"}},
                       {"page-cache", {"cold"}},
                       {"batch-size", {"256"}}})
      .at(0);
}

run::Measurement run_of(int steps, double window_s) {
  run::Measurement m;
  m.steps = steps;
  m.imgs_per_s = 256 * steps / window_s;
  m.ranks.emplace_back().window_s = window_s;
  return m;
}

TEST(SearchWindows, FastStorageIsMeasuredInUsualWindowsAlone) {
  session::SearchWindows windows(usual_limits(), {});
  EXPECT_DOUBLE_EQ(windows.longest_s(cold_cell(), 0, 0.256), 5);
  EXPECT_FALSE(windows.is_trial(cold_cell(), run_of(19, 5.1)));
  EXPECT_DOUBLE_EQ(windows.longest_s(cold_cell(), 970, 0.256), 5);
}

// 47 images/s: a step takes 5.4 s.
TEST(SearchWindows, SlowStorageIsMeasuredAgainInAWindowOfEnoughSteps) {
  session::SearchWindows windows(usual_limits(), {.slow_window_s = 200});
  EXPECT_DOUBLE_EQ(windows.longest_s(cold_cell(), 0, 0.256), 5);
  EXPECT_TRUE(windows.is_trial(cold_cell(), run_of(1, 256 / 47.0)));
  EXPECT_GE(windows.longest_s(cold_cell(), 0, 0.256), 22 * 256 / 47.0);
  EXPECT_FALSE(windows.is_trial(cold_cell(), run_of(1, 256 / 47.0))) << "one is enough";
}

TEST(SearchWindows, NoRunIsATrialThatALongerWindowWouldNotMend) {
  session::SearchWindows typed(usual_limits(), {.slow_window_s = 0});
  typed.longest_s(cold_cell(), 0, 0.256);
  EXPECT_FALSE(typed.is_trial(cold_cell(), run_of(1, 5.4))) << "--max-seconds was typed";
  session::SearchWindows short_pass(usual_limits(), {});
  short_pass.longest_s(cold_cell(), 0, 0.256);
  EXPECT_FALSE(short_pass.is_trial(cold_cell(), run_of(3, 2))) << "the pass was over";
  session::SearchWindows known(usual_limits(), {});
  EXPECT_GE(known.longest_s(cold_cell(), 105, 0.256), 22 * 256 / 105.0);
  EXPECT_FALSE(known.is_trial(cold_cell(), run_of(5, 60)));
}

}  // namespace
}  // namespace feedrate::tests
