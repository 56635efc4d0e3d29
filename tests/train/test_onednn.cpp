#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/amx.h"
#include "train/precision.h"

namespace feedrate::tests {
namespace {

// The tests of bf16 show that it works; this one shows that nothing is left out where AMX works.
TEST(OneDnn, DoesWithoutAmxOnlyWhereItsTilesAreHidden) {
  if (!environment_variable("DNNL_MAX_CPU_ISA").empty()) GTEST_SKIP() << "the user has chosen";
  const train::AutocastScope loads_the_library(c10::kCPU, train::Precision::fp32);
  const std::string newest = environment_variable("ONEDNN_MAX_CPU_ISA");
  if (measure::amx_lacks_tiles()) {
    EXPECT_NE(newest, "");
  } else {
    EXPECT_NE(newest, "AVX512_CORE_FP16");
  }
}

}  // namespace
}  // namespace feedrate::tests
