#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/accelerator.h"
#include "models/resnet.h"
#include "train/loss_scale.h"
#include "train/master_weights.h"
#include "train/precision.h"
#include "train/replicas.h"
#include "train/sgd.h"

namespace feedrate::train {

struct TrainerOptions {
  std::string model = "resnet50";
  int classes = 1000;
  Precision precision = Precision::fp32;
  c10::Device device = at::kCPU;
  std::uint64_t seed = 0;  // of the weights
  SgdOptions sgd;
  float loss_scale = LossScale::kUsual;  // in fp16, at first
  device::StepOptions step;
  ProcessGroup replicas{};  // the other ranks that train the same network; null: there are none
  ExchangeWatch watch{};    // of their gradients
};

// Those of a run. Errors: UsageError for a step option that does not exist.
TrainerOptions trainer_options(const device::StepSpec& spec, Precision precision,
                               c10::Device device);

// A network and its optimiser, on one device. For one thread.
class Trainer {
 public:
  // Seeds torch's default generators. Errors: UsageError for an unknown model.
  explicit Trainer(const TrainerOptions& options);

  // One step: forward, cross entropy, backward, SGD. `input`: normalised, as the network takes
  // it by the options (as_input()), of input_type(); `labels`: (N), int64, below `classes`; both on
  // the device. Returns the mean loss before the step: one float on the device, not yet computed if
  // the device is a GPU.
  at::Tensor step(const at::Tensor& input, const at::Tensor& labels);

  // See Replicas.
  void abandon_exchange() noexcept {
    if (replicas_) replicas_->abandon();
  }

  models::ResNet& model() { return model_; }
  // What the optimiser moves: parameters, or the masters in place of those that have one.
  std::vector<at::Tensor> weights() { return masters_.in_place_of(model_->parameters()); }

 private:
  at::Tensor loss_of(const at::Tensor& input, const at::Tensor& labels);

  const TrainerOptions options_;
  models::ResNet model_;
  MasterWeights masters_;
  Sgd sgd_;
  std::optional<Replicas> replicas_;
  std::optional<LossScale> scale_;
};

}  // namespace feedrate::train
