#pragma once
#include <c10/cuda/CUDAGuard.h>
#include <gtest/gtest.h>

#include <optional>

#include "device/accelerator.h"

namespace feedrate::tests {

// A test on cuda:0, on a stream that is not the default one; skipped where there is no GPU.
class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override;
  c10::cuda::CUDAStream stream() const { return stream_->current_stream(); }
  static c10::Device device() { return {at::kCUDA, 0}; }

 private:
  std::optional<c10::cuda::CUDAStreamGuard> stream_;
};

// ResNet-18 on 64 pictures of 32x32 and 8 classes.
device::StepSpec small_spec(device::Feed feed, const char* precision, bool graph,
                            const char* batch_norm);

// A batch of that spec whose pixels are a formula of `seed` (floats from -2 to 2, or bytes), in
// page-locked memory.
pipeline::BatchLease some_host_batch(const device::StepSpec& spec, int seed);

}  // namespace feedrate::tests
