#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace feedrate {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Thousands, SmallNumbersKeepOneDecimal) {
  EXPECT_EQ(thousands(0), "0.0");
  EXPECT_EQ(thousands(5.64), "5.6");
  EXPECT_EQ(thousands(-5.64), "-5.6");
}

TEST(Thousands, LargeNumbersAreGrouped) {
  EXPECT_EQ(thousands(100), "100");
  EXPECT_EQ(thousands(999.4), "999");
  EXPECT_EQ(thousands(999.6), "1,000");
  EXPECT_EQ(thousands(12345.6), "12,346");
  EXPECT_EQ(thousands(1234567), "1,234,567");
  EXPECT_EQ(thousands(-1234567), "-1,234,567");
  EXPECT_EQ(thousands(-123456), "-123,456");
}

TEST(Thousands, TheBorderReadsLikeItsNeighbours) {
  EXPECT_EQ(thousands(99.94), "99.9");
  EXPECT_THAT(thousands(99.96), testing::AnyOf("100", "100.0"));
}

TEST(Describe, AWarmUpSaysSo) {
  const RunProgress p{.phase = Phase::warming,
                      .imgs_per_s = 1204,
                      .device_idle = 0.57,
                      .elapsed_s = 1.2,
                      .remaining_s = -1};
  EXPECT_EQ(describe(p, std::nullopt), "warming up 1.2 s · 1,204 img/s · device waits 57 %");
}

TEST(Describe, AMeasurementShowsTheCeilingAndTheRest) {
  const RunProgress p{.phase = Phase::measuring,
                      .imgs_per_s = 500,
                      .device_idle = 0,
                      .elapsed_s = 3,
                      .remaining_s = 2};
  EXPECT_EQ(describe(p, 1000),
            "measuring 3.0 s · 500 img/s · 50 % of the ceiling · device waits 0 % · 2 s left");
}

TEST(Describe, NoCeilingNoShare) {
  EXPECT_THAT(describe({}, 0), Not(HasSubstr("ceiling")));
  EXPECT_THAT(describe({}, std::nullopt), StartsWith("warming up"));
}

}  // namespace
}  // namespace feedrate
