#include "train/master_weights.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

namespace feedrate::train {

MasterWeights::MasterWeights(std::vector<at::Tensor> weights, at::ScalarType type)
    : weights_(std::move(weights)) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& weight : weights_) {
    masters_.push_back(weight.detach().clone());
    gradients_.push_back(at::empty_like(masters_.back()));
    weight.set_data(weight.detach().to(type));
  }
}

std::vector<at::Tensor> MasterWeights::in_place_of(std::vector<at::Tensor> parameters) const {
  for (at::Tensor& parameter : parameters) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (parameter.is_same(weights_[i])) parameter = masters_[i];
    }
  }
  return parameters;
}

void MasterWeights::take_gradients() {
  if (weights_.empty()) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> given;
  for (const at::Tensor& weight : weights_) given.push_back(weight.grad());
  at::_foreach_copy_(gradients_, given);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    weights_[i].mutable_grad().reset();
    masters_[i].mutable_grad() = gradients_[i];
  }
}

void MasterWeights::publish() {
  if (weights_.empty()) return;
  const at::NoGradGuard no_grad;
  at::_foreach_copy_(weights_, masters_);
}

}  // namespace feedrate::train
