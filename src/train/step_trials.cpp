#include "train/step_trials.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "measure/clock.h"
#include "train/errors.h"
#include "train/input_maker.h"
#include "train/synthetic.h"
#include "train/trainer.h"

namespace feedrate::train {
namespace {

// The batch of trials: the same pixels and labels whatever the options.
TrainBatch trial_batch(const device::StepSpec& spec, int images, at::ScalarType type,
                       c10::Device device) {
  at::manual_seed(spec.seed);
  const at::Tensor nhwc = at::randn({images, spec.batch.size.height, spec.batch.size.width, 3});
  const at::Tensor labels = at::randint(spec.classes, {images}, at::kLong);
  return {as_input(nhwc.to(device).to(type).permute({0, 3, 1, 2}), spec.step), labels.to(device)};
}

// A network with a batch, which makes steps.
class TrialNetwork {
 public:
  TrialNetwork(device::StepSpec spec, const TrialDevice& on, Precision precision, int images,
               double learning_rate)
      : on_(on),
        spec_(std::move(spec)),
        precision_(precision),
        trainer_(options(learning_rate)),
        batch_(trial_batch(spec_, images, input_type(precision), on.device)),
        loss_(at::zeros({}, at::TensorOptions(on.device).dtype(at::kFloat))),
        run_(on.make_runner(spec_.step)) {
    models::set_residual_scale(*trainer_.model(), kResiduals);
    if (on.made) on.made(trainer_.model(), spec_.step);
  }
  ~TrialNetwork() {
    try {
      on_.synchronize();
    } catch (const std::exception&) {  // of a GPU that is lost: what has lost it was thrown before
    }
  }
  TrialNetwork(const TrialNetwork&) = delete;
  TrialNetwork& operator=(const TrialNetwork&) = delete;

  void steps(int count) {
    on_.prepare(precision_, spec_.step);
    for (int i = 0; i < count; ++i)
      run_([&] { loss_.copy_(trainer_.step(batch_.input, batch_.labels)); });
  }
  double loss() const { return loss_.item<double>(); }
  std::vector<at::Tensor> weights() {
    std::vector<at::Tensor> copies;
    for (const at::Tensor& weight : trainer_.weights())
      copies.push_back(weight.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true));
    return copies;
  }

 private:
  // So low that no step is skipped for an overflow.
  static constexpr float kLossScale = 256;
  // A new ResNet-50 lets rounding errors grow: after six steps fp32 is 91 % away from fp64, and
  // every way of making a step looks wrong. With small residuals fp32 is 0.6 % away and bf16 26 %;
  // with 0.5 instead of 0.2, bf16 is 88 % (16 images, 64x64).
  static constexpr double kResiduals = 0.2;

  TrainerOptions options(double learning_rate) const {
    on_.prepare(precision_, spec_.step);
    TrainerOptions made = trainer_options(spec_, precision_, on_.device);
    made.sgd.learning_rate = learning_rate;
    made.loss_scale = kLossScale;
    return made;
  }

  const TrialDevice& on_;
  const device::StepSpec spec_;
  const Precision precision_;
  Trainer trainer_;
  const TrainBatch batch_;
  const at::Tensor loss_;
  const StepRunner run_;  // ends before what it has captured
};

// What a few steps have changed.
struct Change {
  double loss = 0;
  std::vector<at::Tensor> of_weights;
};

class TorchTrials : public device::StepTrials {
 public:
  TorchTrials(const device::StepSpec& spec, TrialDevice on) : spec_(spec), on_(std::move(on)) {}

  device::StepError error_of(const device::StepOptions& options) override {
    return guarded(on_.name, spec_, [&] {
      make_room();
      if (!true_) true_ = change_by(plain(), Precision::fp64);
      device::StepError error = compared(change_by(options, precision_of(options)));
      error.one_in_fp32 = on_.precision == Precision::fp32
                              ? error.one
                              : furthest(change_by(in_fp32(options), Precision::fp32));
      return error;
    });
  }

  double seconds(const device::StepOptions& options, int batch, int steps) override {
    device::StepSpec spec = spec_;
    spec.batch.batch_size = batch;
    return guarded(on_.name, spec, [&] {
      TrialNetwork& network = ready(options, batch);
      const std::int64_t began_ns = measure::now_ns();
      network.steps(steps);
      on_.synchronize();
      return measure::seconds(measure::now_ns() - began_ns);
    });
  }

 private:
  // Six: three by themselves, one that is captured, two that are replayed. Small steps: rounding
  // errors grow with their size.
  static constexpr int kSteps = 6;
  static constexpr double kLearningRate = 1e-4;

  struct Kept {
    device::StepOptions options;
    int batch = 0;
    std::unique_ptr<TrialNetwork> network;
  };

  static device::StepOptions plain() {
    return {.channels_last = false,
            .batch_norm = "counted",
            .optimizer = "loop",
            .master_weights = false,
            .cudnn_benchmark = false,
            .cudnn_tries_all = false,
            .cuda_graph = false,
            .memset_kernels = false,
            .space_to_depth = false};
  }

  static device::StepOptions in_fp32(device::StepOptions options) {
    options.master_weights = false;  // which are fp32
    options.trial_precision.clear();
    return options;
  }
  Precision precision_of(const device::StepOptions& options) const {
    constexpr Precision all[] = {Precision::fp16, Precision::bf16};
    return options.trial_precision.empty() ? on_.precision
                                           : precision_from(options.trial_precision, all, on_.name);
  }

  device::StepSpec with(const device::StepOptions& options) const {
    device::StepSpec spec = spec_;
    spec.step = options;
    return spec;
  }

  Change change_by(const device::StepOptions& options, Precision precision) const {
    TrialNetwork network(with(options), on_, precision,
                         std::min(spec_.batch.batch_size, device::kMostCompared), kLearningRate);
    Change change{.of_weights = network.weights()};
    network.steps(kSteps);
    change.loss = network.loss();
    const std::vector<at::Tensor> after = network.weights();
    for (std::size_t i = 0; i < after.size(); ++i)
      change.of_weights[i] = after[i] - change.of_weights[i];
    return change;
  }

  device::StepError compared(const Change& ours) const {
    device::StepError error{.loss = std::abs(ours.loss / true_->loss - 1)};
    // Of convolutions, the classifier, and batch normalisations with the classifier's bias.
    for (const std::int64_t dimensions : {4, 2, 1}) add(error, ours, dimensions);
    error.one = furthest(ours);
    return error;
  }

  // The error of the weight that is furthest away.
  double furthest(const Change& ours) const {
    double most = 0;
    for (std::size_t i = 0; i < ours.of_weights.size(); ++i) {
      const at::Tensor& should = true_->of_weights[i];
      most = further(most, ((ours.of_weights[i] - should).norm() / should.norm()).item<double>());
    }
    return most;
  }

  // The error of the weights of one kind, where it is larger.
  void add(device::StepError& error, const Change& ours, std::int64_t dimensions) const {
    double away = 0, along = 0, whole = 0;
    for (std::size_t i = 0; i < ours.of_weights.size(); ++i) {
      const at::Tensor& is = ours.of_weights[i];
      const at::Tensor& should = true_->of_weights[i];
      if (should.dim() != dimensions) continue;
      away += (is - should).square().sum().item<double>();
      along += (is * should).sum().item<double>();
      whole += should.square().sum().item<double>();
    }
    const double update = std::sqrt(away / whole), scale = along / whole - 1;
    error.update = further(error.update, update);
    error.scale = further(error.scale, scale);
  }
  // NaN counts as the largest error.
  static double further(double one, double other) {
    if (std::isnan(one) || std::isnan(other)) return std::numeric_limits<double>::quiet_NaN();
    return std::abs(one) > std::abs(other) ? one : other;
  }

  // Has made a step: another network may have taken the memory that its activations were in. Where
  // there is no room for both, which not every library says in words that are known, it is made
  // anew alone.
  TrialNetwork& ready(const device::StepOptions& options, int batch) {
    const auto make_ready = [&]() -> TrialNetwork& {
      TrialNetwork& network = warm(options, batch);
      network.steps(1);
      on_.synchronize();
      return network;
    };
    try {
      return make_ready();
    } catch (const std::exception&) {
      if (kept_.empty()) throw;
      make_room();
      return make_ready();
    }
  }

  void make_room() {
    kept_.clear();
    on_.free_memory();
  }

  // The two that were used last are kept: they take turns. One that was never made is made alone:
  // cuDNN looks for its fastest kernels then, and passes over those that lack memory for good.
  TrialNetwork& warm(const device::StepOptions& options, int batch) {
    const auto known = std::ranges::find_if(
        kept_, [&](const Kept& one) { return one.batch == batch && one.options == options; });
    if (known != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, known);
      return *kept_.front().network;
    }
    if (std::ranges::find(made_, std::pair(options, batch)) == made_.end()) {
      make_room();
      made_.emplace_back(options, batch);
    }
    if (kept_.size() == 2) kept_.pop_back();
    kept_.push_front({options, batch, made_warm(options, batch)});
    return *kept_.front().network;
  }

  std::unique_ptr<TrialNetwork> made_warm(const device::StepOptions& options, int batch) const {
    auto network = std::make_unique<TrialNetwork>(with(options), on_, precision_of(options), batch,
                                                  kLearningRate);
    network->steps(kSteps);
    on_.synchronize();
    return network;
  }

  const device::StepSpec spec_;
  const TrialDevice on_;
  std::optional<Change> true_;
  std::list<Kept> kept_;                                   // the one that was used last first
  std::vector<std::pair<device::StepOptions, int>> made_;  // with how many images
};

}  // namespace

std::unique_ptr<device::StepTrials> make_step_trials(const device::StepSpec& spec,
                                                     TrialDevice device) {
  return std::make_unique<TorchTrials>(spec, std::move(device));
}

}  // namespace feedrate::train
