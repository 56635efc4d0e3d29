#include "train/errors.h"

#include <gmock/gmock.h>

#include "tests/message_of.h"

namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string thrown_for(const std::string& message) {
  return message_of([&] {
    const auto fail = [&] { TORCH_CHECK(false, message); };
    train::guarded("cuda:0", {.model = "resnet50"}, fail);
  });
}

TEST(TrainErrors, WhatAStepDiesOf) {
  EXPECT_EQ(thrown_for("CUDA error: uncorrectable ECC error encountered\nmore lines"),
            "cuda:0: its memory has an error that ECC cannot correct; see `nvidia-smi -q -d "
            "ECC,ROW_REMAPPER`; reset the GPU, or use another");
  EXPECT_THAT(thrown_for("CUDA error: no kernel image is available for execution on the device"),
              HasSubstr("no code for a GPU of its generation"));
  EXPECT_THAT(thrown_for("CUDA error: uncorrectable NVLink error detected during the execution"),
              HasSubstr("use fewer --gpus"));
  EXPECT_EQ(thrown_for("CUDA error: an illegal memory access was encountered\nmore lines"),
            "cuda:0: CUDA error: an illegal memory access was encountered");
}

TEST(TrainErrors, ABatchThatDoesNotFit) {
  const std::string said = thrown_for("CUDA out of memory. Tried to allocate 2.00 GiB");
  EXPECT_THAT(said, AllOf(StartsWith(std::string("cuda:0: ") + device::kOutOfMemory),
                          HasSubstr("use a smaller --batch-size"), Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace feedrate::tests
