#pragma once
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <cstddef>
#include <memory>
#include <string>

namespace feedrate::train {

// Finds a loss that is infinite or not a number without a wait: losses are summed on the device,
// and the sum, which stays so once a loss was, is copied to the host behind each step.
class LossWatch {
 public:
  // For `places` steps that are in flight at once.
  LossWatch(c10::Device device, std::size_t places);

  // Within a step, also one that is captured. `loss`: one float.
  void add(const at::Tensor& loss) { sum_.add_(loss); }
  // Behind it: queues the copy for the step of that place.
  void copy_to_host(std::size_t place, const c10::cuda::CUDAStream& stream);
  // When the step of that place has ended: the sum of all losses up to its own.
  float sum(std::size_t place) const;

 private:
  at::Tensor sum_;
  const std::shared_ptr<std::byte> seen_;  // [places] floats, page-locked
};

}  // namespace feedrate::train
