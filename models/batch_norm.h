#pragma once
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "base/error.h"
#include "models/fused_batch_norm.h"

namespace feedrate::models {

// How a batch normalisation in training mode runs.
enum class BatchNormKind : std::uint8_t {
  counted,  // as torch::nn::BatchNorm2d: the library's, and one is added to `num_batches_tracked`
            // in every forward pass, which changes nothing (it is read only where the momentum is
            // absent): 53 kernels a step in ResNet-50
  library,  // without the counter, which stays zero
  fused,    // in one pass with what follows it, see fused_batch_norm.h; the library's for what does
            // not fit that
};

// Batch normalisation over N, H, W of an (N, C, H, W) tensor, with torchvision's names, momentum
// and epsilon (Ioffe and Szegedy 2015). Like every module, for one thread at a time.
//
// forward_relu, forward_relu_pool, forward_add_relu and forward_join_relu are the places for fused
// kernels: a network says which steps belong together, and this file decides how they run.
class BatchNormImpl : public torch::nn::Module {
 public:
  explicit BatchNormImpl(std::int64_t channels)
      : weight_(register_parameter("weight", at::ones({channels}))),
        bias_(register_parameter("bias", at::zeros({channels}))),
        running_mean_(register_buffer("running_mean", at::zeros({channels}))),
        running_var_(register_buffer("running_var", at::ones({channels}))),
        tracked_(register_buffer("num_batches_tracked", at::zeros({}, at::kLong))) {}

  void set_kind(BatchNormKind kind) { kind_ = kind; }

  // In training mode normalises by the batch's statistics and moves the running ones a tenth of the
  // way to them; else by the running ones. Errors: feedrate::Error where, in training mode, a
  // channel has a single value: its variance would make the running one NaN.
  at::Tensor forward(const at::Tensor& x) {
    if (is_training() && x.numel() == x.size(1)) {
      throw Error("batch normalisation", "one value per channel has no variance",
                  "use a larger batch-size or input-size");
    }
    if (fuses(x)) return fused_batch_norm(x, state());
    if (is_training() && kind_ == BatchNormKind::counted) tracked_.add_(1);
    return at::batch_norm(x, weight_, bias_, running_mean_, running_var_, is_training(),
                          kBatchNormMomentum, kBatchNormEpsilon,
                          at::globalContext().userEnabledCuDNN());
  }

  // The derivative of batch_norm needs its input and not its output, so what follows may overwrite
  // the output: half the memory traffic.
  at::Tensor forward_relu(const at::Tensor& x) {
    if (fuses(x)) return fused_batch_norm_relu(x, state());
    return forward(x).relu_();
  }

  // A max pooling of 3x3 with stride 2 and padding 1 behind it.
  at::Tensor forward_relu_pool(const at::Tensor& x) {
    if (fuses(x)) return fused_batch_norm_relu_pool(x, state());
    return at::max_pool2d(forward_relu(x), /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  }

  // relu(forward(x) + shortcut), for two readers.
  Forked forward_add_relu(const at::Tensor& x, const at::Tensor& shortcut) {
    if (fuses(x) && are_alike(x, shortcut)) {
      return fused_batch_norm_add_relu(x, shortcut, state());
    }
    const at::Tensor y = forward(x).add_(shortcut).relu_();
    return {y, y};
  }

  // relu(forward(x) + of_shortcut.forward(shortcut)), for two readers.
  Forked forward_join_relu(const at::Tensor& x, const at::Tensor& shortcut,
                           BatchNormImpl& of_shortcut) {
    if (fuses(x) && of_shortcut.fuses(shortcut) && are_alike(x, shortcut)) {
      return fused_batch_norm_join_relu(x, state(), shortcut, of_shortcut.state());
    }
    return forward_add_relu(x, of_shortcut.forward(shortcut));
  }

 private:
  bool fuses(const at::Tensor& x) const {
    return kind_ == BatchNormKind::fused && is_training() && x.numel() > x.size(1) &&
           fits_fused_batch_norm(x);
  }
  static bool are_alike(const at::Tensor& x, const at::Tensor& shortcut) {
    return x.sizes() == shortcut.sizes() && x.scalar_type() == shortcut.scalar_type();
  }
  BatchNormState state() const { return {weight_, bias_, running_mean_, running_var_}; }

  at::Tensor weight_, bias_, running_mean_, running_var_, tracked_;
  BatchNormKind kind_ = BatchNormKind::library;
};
TORCH_MODULE(BatchNorm);

}  // namespace feedrate::models
