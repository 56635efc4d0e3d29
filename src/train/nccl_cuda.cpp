#include <torch/csrc/cuda/nccl.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "train/process_group.h"

namespace feedrate::train {

Backend make_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size) {
  // Its kernels are few and short, and the rest of the step waits for them.
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      store, rank, size, c10d::ProcessGroupNCCL::Options::create(/*is_high_priority_stream=*/true));
}

std::string nccl_version() {
  const std::uint64_t version = torch::cuda::nccl::version();  // 32, 16 and 16 bits
  return std::to_string(version >> 32) + "." + std::to_string(version >> 16 & 0xffff) + "." +
         std::to_string(version & 0xffff);
}

}  // namespace feedrate::train
