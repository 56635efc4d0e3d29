#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/amx.h"
#include "train/onednn.h"
#include "train/precision.h"

namespace feedrate::tests {
namespace {

// The tests of bf16 show that it works; this one shows that nothing is left out where AMX works.
TEST(OneDnn, DoesWithoutAmxOnlyWhereItsTilesAreHidden) {
  if (train::does_without_amx()) {
    EXPECT_TRUE(measure::amx_lacks_tiles());
    EXPECT_EQ(environment_variable("ONEDNN_MAX_CPU_ISA"), "AVX512_CORE_FP16");
  }
  EXPECT_FALSE(train::avoid_amx_without_tiles()) << "chosen already, or nothing to avoid";
}

}  // namespace
}  // namespace feedrate::tests
