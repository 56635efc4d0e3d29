#include "session/diagnosis_session.h"

#include <gtest/gtest.h>

#include "plan/expand.h"

namespace feedrate::tests {
namespace {

std::string busy_text(const char* kind, double device_used, double loader) {
  const plan::Cell cell = plan::expand({{"device", {kind}}, {"data", {"jpeg"}}}).front();
  judge::RoundEvidence round;
  round.capacities = {
      {.resource = "device", .imgs_per_s = 2.5, .utilisation = device_used},
      {.resource = "loader", .imgs_per_s = loader, .utilisation = 2.5 * device_used / loader}};
  return session::busy_cpu_text(cell, round);
}

TEST(DiagnosisSession, SaysWhatACpuThatAlwaysTrainsCannotShow) {
  EXPECT_EQ(
      busy_text("cpu", 0.997, 1682),
      "this CPU trains all the time, at 2.5 img/s; the loader could deliver 1,682. What would "
      "limit a GPU shows with --device emulated:NAME");
  EXPECT_EQ(busy_text("emulated:a100", 0.997, 1682), "");
  EXPECT_EQ(busy_text("cpu", 0.9, 1682), "") << "it waits, too";
  EXPECT_EQ(busy_text("cpu", 0.997, 4), "") << "the loader is no faster: it may well limit";
}

}  // namespace
}  // namespace feedrate::tests
