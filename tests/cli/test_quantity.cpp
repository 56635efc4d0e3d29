#include "cli/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace feedrate::tests {
namespace {

using testing::HasSubstr;

std::optional<double> seconds_of(const std::string& typed) {
  CLI::App app;
  std::optional<double> seconds;
  cli::add_duration(app, "--budget", seconds, "");
  app.parse("--budget " + typed);
  return seconds;
}

TEST(Duration, HasAUnitOrIsInSeconds) {
  EXPECT_EQ(seconds_of("90"), 90);
  EXPECT_EQ(seconds_of("90s"), 90);
  EXPECT_EQ(seconds_of("1.5m"), 90);
  EXPECT_EQ(seconds_of("2min"), 120);
  EXPECT_EQ(seconds_of("2h"), 7200);
}

TEST(Duration, RefusesWhatIsNoTime) {
  for (const char* typed :
       {"x", "m", "0", "0s", "-3", "-3m", "nan", "inf", "2d", "2m3", "1e999", "2e9", "300000h"}) {
    try {
      seconds_of(typed);
      ADD_FAILURE() << typed;
    } catch (const CLI::ValidationError& error) {
      EXPECT_THAT(error.what(), HasSubstr("must be as 90s, 30m or 2h"));
      EXPECT_THAT(error.what(), HasSubstr(std::string("--budget ") + typed));
    } catch (const CLI::ParseError&) {  // "-3": an option by itself
      EXPECT_EQ(typed[0], '-') << typed;
    }
  }
}

TEST(Quantity, IsInTheUnitOfTheMapsValues) {
  CLI::App app;
  std::optional<double> value;
  cli::add_quantity(app, "--precision", value, {{"%", 0.01}}, 0.5, "must be as 2%", "");
  app.parse("--precision 2%");
  EXPECT_EQ(value, 0.02);
  EXPECT_THROW(app.parse("--precision 2"), CLI::ValidationError) << "no unit";
  EXPECT_THROW(app.parse("--precision 51%"), CLI::ValidationError) << "more than the most";
}

}  // namespace
}  // namespace feedrate::tests
