#pragma once
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "measure/error.h"

namespace feedrate {

// Batch normalisation over N, H, W of an (N, C, H, W) tensor, with torchvision's names, momentum
// and epsilon (Ioffe and Szegedy 2015). Like every module, for one thread at a time.
//
// torch::nn::BatchNorm2d would do, but it adds one to `num_batches_tracked` in every forward pass:
// 53 kernels a step in ResNet-50 that change nothing, as the counter is read only where the
// momentum is absent. Here the buffer exists, so that the state's names are torchvision's, and
// stays zero.
//
// forward_relu and forward_add_relu are the places for fused kernels: a block says which steps
// belong together, and this file decides how they run.
class BatchNormImpl : public torch::nn::Module {
 public:
  explicit BatchNormImpl(std::int64_t channels)
      : weight_(register_parameter("weight", at::ones({channels}))),
        bias_(register_parameter("bias", at::zeros({channels}))),
        running_mean_(register_buffer("running_mean", at::zeros({channels}))),
        running_var_(register_buffer("running_var", at::ones({channels}))) {
    register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
  }

  // In training mode normalises by the batch's statistics and moves the running ones a tenth of the
  // way to them; else by the running ones. Errors: feedrate::Error where, in training mode, a
  // channel has a single value: its variance would make the running one NaN.
  at::Tensor forward(const at::Tensor& x) {
    if (is_training() && x.numel() == x.size(1)) {
      throw Error("batch normalisation", "one value per channel has no variance",
                  "use a larger batch-size or input-size");
    }
    constexpr double momentum = 0.1;
    constexpr double epsilon = 1e-5;
    return at::batch_norm(x, weight_, bias_, running_mean_, running_var_, is_training(), momentum,
                          epsilon, at::globalContext().userEnabledCuDNN());
  }

  // The derivative of batch_norm needs its input and not its output, so what follows may overwrite
  // the output: half the memory traffic.
  at::Tensor forward_relu(const at::Tensor& x) { return forward(x).relu_(); }

  at::Tensor forward_add_relu(const at::Tensor& x, const at::Tensor& shortcut) {
    return forward(x).add_(shortcut).relu_();
  }

 private:
  at::Tensor weight_, bias_, running_mean_, running_var_;
};
TORCH_MODULE(BatchNorm);

}  // namespace feedrate
