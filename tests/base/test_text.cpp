#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace feedrate::tests {
namespace {

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

TEST(Format, WritesWhatPrintfWouldWhateverItsLength) {
  EXPECT_EQ(format("%d %s", 3, "x"), "3 x");
  EXPECT_EQ(format("%s", std::string(5000, 'y').c_str()).size(), 5000u);
  EXPECT_EQ(percent(0.1234), "12.3 %");
}

}  // namespace
}  // namespace feedrate::tests
