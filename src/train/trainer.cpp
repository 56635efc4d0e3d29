#include "train/trainer.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

namespace feedrate {
namespace {

ResNet make_model(const TrainerOptions& options) {
  at::manual_seed(options.seed);
  ResNet model = make_resnet(options.model, options.classes);
  model->to(options.device);
  to_channels_last(*model);
  model->train();
  return model;
}

}  // namespace

Trainer::Trainer(const TrainerOptions& options)
    : options_(options), model_(make_model(options)), sgd_(model_->parameters(), options.sgd) {
  if (options.precision == Precision::fp16) scale_.emplace(options.device);
}

at::Tensor Trainer::step(const at::Tensor& input, const at::Tensor& labels) {
  const at::AutoGradMode with_gradients(true);
  const at::Tensor loss = loss_of(input, labels);
  if (scale_) {
    scale_->scaled(loss).backward();
    const at::NoGradGuard no_grad;
    sgd_.step(scale_->unscale(sgd_.gradients()));
  } else {
    loss.backward();
    sgd_.step();
  }
  return loss.detach();
}

// Autocast covers the forward pass alone: backward runs in the types that forward has chosen.
at::Tensor Trainer::loss_of(const at::Tensor& input, const at::Tensor& labels) {
  at::Tensor logits;
  {
    const AutocastScope autocast(options_.device.type(), options_.precision);
    logits = model_->forward(input);
  }
  return at::cross_entropy_loss(logits.to(at::kFloat), labels);
}

}  // namespace feedrate
