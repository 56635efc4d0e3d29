#include "train/sgd.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

namespace feedrate::train {

Sgd::Sgd(std::vector<at::Tensor> parameters, SgdOptions options, bool fused)
    : parameters_(std::move(parameters)), options_(options), fused_(fused) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& p : parameters_) momentum_.push_back(at::zeros_like(p));
}

std::vector<at::Tensor> Sgd::gradients() const {
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (const at::Tensor& p : parameters_) gradients.push_back(p.grad());
  return gradients;
}

void Sgd::step(const at::Tensor& found_inf) {
  const at::NoGradGuard no_grad;
  if (fused_) {
    step_fused(found_inf);
  } else if (!found_inf.defined() || found_inf.item<float>() == 0) {
    step_by_loop();
  }
  // Undefined rather than zeroed: backward then stores gradients instead of adding to them.
  for (const at::Tensor& p : parameters_) p.mutable_grad().reset();
}

void Sgd::step_fused(const at::Tensor& found_inf) {
  // Momentum starts at zero, so the first step is like any other: momentum * 0 + gradient.
  at::_fused_sgd_(parameters_, gradients(), momentum_, options_.weight_decay, options_.momentum,
                  options_.learning_rate, /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                  /*is_first_step=*/false, /*grad_scale=*/{},
                  found_inf.defined() ? std::optional(found_inf) : std::nullopt);
}

void Sgd::step_by_loop() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& p = parameters_[i];
    momentum_[i].mul_(options_.momentum).add_(p.grad().add(p, options_.weight_decay));
    p.add_(momentum_[i], -options_.learning_rate);
  }
}

}  // namespace feedrate::train
