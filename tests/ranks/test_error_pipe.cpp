#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "ranks/error_pipe.h"

namespace feedrate::tests {
namespace {

TEST(ErrorPipe, PassesOnWhatWasSaidAndWaitsForNoMore) {
  testing::internal::CaptureStderr();
  ranks::ErrorPipe pipe;
  pipe.pass_on();
  const std::string report(60'000, 'x');  // fits into any pipe
  EXPECT_EQ(write(pipe.entrance(), "one\n", 4), 4);
  EXPECT_EQ(write(pipe.entrance(), report.data(), report.size()),
            static_cast<ssize_t>(report.size()));
  pipe.pass_on();
  pipe.pass_on();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "one\n" + report);
}

}  // namespace
}  // namespace feedrate::tests
