#include "train/trainer.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "base/error.h"

namespace feedrate::train {
namespace {

models::BatchNormKind batch_norm_kind(std::string_view name) {
  if (name == "counted") return models::BatchNormKind::counted;
  if (name == "fused") return models::BatchNormKind::fused;
  if (name == "library") return models::BatchNormKind::library;
  throw UsageError("--batch-norm " + std::string(name), "there is no such kind",
                   "use fused, library or counted");
}

models::ResNet make_model(const TrainerOptions& options) {
  at::manual_seed(options.seed);
  models::ResNet model = models::make_resnet(options.model, options.classes);
  model->to(options.device);
  if (options.precision == Precision::fp64) model->to(at::kDouble);
  if (options.step.channels_last) models::to_channels_last(*model);
  models::use_batch_norm(*model, batch_norm_kind(options.step.batch_norm));
  model->train();
  return model;
}

// What is multiplied in the precision's type: everything but the batch normalisations' parameters,
// which stay fp32.
std::vector<at::Tensor> multiplied(models::ResNet& model) {
  std::vector<at::Tensor> parameters;
  for (const auto& module : model->modules()) {
    if (module->as<models::BatchNorm>() != nullptr) continue;
    for (const at::Tensor& own : module->parameters(/*recurse=*/false)) parameters.push_back(own);
  }
  return parameters;
}

MasterWeights make_masters(models::ResNet& model, const TrainerOptions& options) {
  const at::ScalarType type = input_type(options.precision);
  const bool wanted = options.step.master_weights && type != at::kFloat;
  return {wanted ? multiplied(model) : std::vector<at::Tensor>(), type};
}

// Everything that a step changes: weights, the masters behind them, running statistics.
std::vector<at::Tensor> initial_state(models::ResNet& model, const MasterWeights& masters) {
  std::vector<at::Tensor> state = model->parameters();
  for (at::Tensor& t : masters.in_place_of(model->parameters())) state.push_back(std::move(t));
  for (at::Tensor& t : model->buffers()) state.push_back(std::move(t));
  return state;
}

}  // namespace

TrainerOptions trainer_options(const device::StepSpec& spec, Precision precision,
                               c10::Device device) {
  return {.model = spec.model,
          .classes = spec.classes,
          .precision = precision,
          .device = device,
          .seed = spec.seed,
          .step = spec.step};
}

Trainer::Trainer(const TrainerOptions& options)
    : options_(options),
      model_(make_model(options)),
      masters_(make_masters(model_, options)),
      sgd_(masters_.in_place_of(model_->parameters()), options.sgd,
           options.step.optimizer != "loop") {
  if (options.precision == Precision::fp16) scale_.emplace(options.device, options.loss_scale);
  if (options.replicas)
    replicas_.emplace(options.replicas, model_->parameters(), initial_state(model_, masters_),
                      options.watch);
}

at::Tensor Trainer::step(const at::Tensor& input, const at::Tensor& labels) {
  const at::AutoGradMode with_gradients(true);
  if (replicas_) replicas_->before_forward();
  const at::Tensor loss = loss_of(input, labels);
  if (replicas_) replicas_->before_backward();
  (scale_ ? scale_->scaled(loss) : loss).backward();
  if (replicas_) replicas_->after_backward();
  const at::NoGradGuard no_grad;
  masters_.take_gradients();
  sgd_.step(scale_ ? scale_->unscale(sgd_.gradients()) : at::Tensor());
  masters_.publish();
  return loss.detach();
}

// Autocast covers the forward pass alone: backward runs in the types that forward has chosen.
at::Tensor Trainer::loss_of(const at::Tensor& input, const at::Tensor& labels) {
  at::Tensor logits;
  {
    const bool cast = !options_.step.master_weights;  // with them, everything has its type already
    const AutocastScope autocast(options_.device.type(),
                                 cast ? options_.precision : Precision::fp32);
    logits = model_->forward(input);
  }
  return at::cross_entropy_loss(logits.to(at::kFloat), labels);
}

}  // namespace feedrate::train
