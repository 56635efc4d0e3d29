#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

namespace feedrate::train {

// torchvision's reference settings for ResNet-50, without their schedule: a run is too short for
// one.
struct SgdOptions {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double weight_decay = 1e-4;
};

// Stochastic gradient descent with momentum, as torch::optim::SGD defines it (no dampening, not
// Nesterov).
class Sgd {
 public:
  // The parameters keep their layout from here on: the momentum copies it. `fused`: in one pass
  // over all parameters, on CUDA a few kernels instead of hundreds, on a CPU a third of the memory
  // traffic; else one parameter after the other.
  Sgd(std::vector<at::Tensor> parameters, SgdOptions options, bool fused = true);

  // One step by the parameters' gradients, which it releases. `found_inf` (one float on the device,
  // may be undefined): where it is not zero nothing changes; the loop waits for the device to read
  // it.
  void step(const at::Tensor& found_inf = {});

  // The parameters' gradients, for unscaling.
  std::vector<at::Tensor> gradients() const;

 private:
  void step_fused(const at::Tensor& found_inf);
  void step_by_loop();

  const std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> momentum_;
  const SgdOptions options_;
  const bool fused_;
};

}  // namespace feedrate::train
