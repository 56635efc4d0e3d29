#include "device/cuda_errors.h"

#include <gmock/gmock.h>

// Each names the thing, the reason and the remedy, in one line. The words in quotes are those of
// CUDA 13's runtime.
namespace feedrate::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_of(const device::NoCudaDevice& none) { return device::error_of(none).what(); }

TEST(CudaErrors, NoDriver) {
  EXPECT_EQ(text_of({.built_for = 13000}),
            "--device cuda: no CUDA device: no NVIDIA driver is loaded; install a driver for CUDA "
            "13.0 (580 or newer), or use --device cpu or emulated:NAME");
}

TEST(CudaErrors, ADriverThatIsTooOld) {
  EXPECT_EQ(text_of({.driver_knows = 12040, .built_for = 13000, .is_driver_too_old = true}),
            "--device cuda: no CUDA device: the driver knows CUDA 12.4, this build needs 13.0; "
            "update the driver to one for CUDA 13.0 (580 or newer), or build with a LibTorch for "
            "the driver's CUDA (CMAKE_PREFIX_PATH)");
}

TEST(CudaErrors, ADriverThatShowsNone) {
  EXPECT_THAT(text_of({.driver_knows = 13000, .built_for = 13000}),
              AllOf(HasSubstr("the driver shows none"), HasSubstr("CUDA_VISIBLE_DEVICES")));
  EXPECT_THAT(text_of({.driver_knows = 13000, .built_for = 13000, .reason = "unknown error"}),
              HasSubstr("no CUDA device: unknown error; check nvidia-smi"));
}

// All slices are to be named: the whole GPU cannot be had.
TEST(CudaErrors, AGpuInSlicesOrOfAnotherProgram) {
  EXPECT_THAT(text_of({.driver_knows = 13000,
                       .built_for = 13000,
                       .reason = "CUDA-capable device(s) is/are busy or unavailable"}),
              AllOf(HasSubstr("cut into slices (MIG)"), HasSubstr("`nvidia-smi -L`")));
}

TEST(CudaErrors, AGpuThatIsTooOld) {
  EXPECT_STREQ(device::too_old_gpu("Tesla V100", 70, 13000).what(),
               "Tesla V100: its compute capability is 7.0, CUDA 13.0 needs 7.5; build with a "
               "LibTorch for an older CUDA (CMAKE_PREFIX_PATH), or use another GPU");
}

}  // namespace
}  // namespace feedrate::tests
