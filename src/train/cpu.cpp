#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "device/registry.h"
#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/delays.h"
#include "train/accelerators.h"
#include "train/errors.h"
#include "train/host_batch.h"
#include "train/input_maker.h"
#include "train/operators.h"
#include "train/process_group.h"
#include "train/step_trials.h"
#include "train/synthetic.h"
#include "train/trainer.h"

namespace feedrate::train {
namespace {

constexpr int kMostReplicas =
    64;  // of one machine's processors; more are of no use even for trying out
constexpr Precision kOffered[] = {Precision::fp32, Precision::bf16};

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

// Those that this process may run on: a container or taskset may leave it fewer than the machine
// has.
class CpuAccelerator : public device::Accelerator {
 public:
  CpuAccelerator(const device::StepSpec& spec, device::Group& group)
      : spec_(spec),
        precision_(precision_from(spec.precision, kOffered, "cpu")),
        ranks_(group.size()),
        delays_(spec.delays),
        trainer_(options_of(group)),
        prepare_(spec, at::kCPU, input_type(precision_)) {
    const int threads = spec.threads > 0 ? spec.threads : measure::allowed_cpus();
    at::set_num_threads(ranks_ > 1 ? std::min(threads, measure::allowed_cpus())
                                   : threads);  // a rank has its share of the CPUs
    if (spec.feed == device::Feed::synthetic || spec.synthetic_beside) {
      synthetic_.emplace(of_rank(spec, group), input_type(precision_), at::kCPU);
    }
  }

  device::DeviceDescription describe() const override {
    return {.name = cpu_name(), .kind = "cpu", .software = software()};
  }
  std::shared_ptr<pipeline::SlabAllocator> slabs() override { return pipeline::host_slabs(); }

  void keep(const pipeline::HostBatch& batch) override {
    resident_ = {borrow_pixels(batch, spec_.batch).clone(), copy_labels(batch, spec_.classes)};
    resident_parameters_ = prepare_.parameters(batch);
  }

  void submit(pipeline::BatchLease batch) override {
    step([&] { return take(std::move(batch)); });
  }
  void submit_synthetic() override {
    step([&] { return synthetic_->next(); });
  }

  void collect(std::vector<device::StepRecord>& finished) override {
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }
  std::vector<measure::TraceOperator> operators_of(const std::function<void()>& steps) override {
    return train::operators_of(/*on_gpu=*/false, steps);
  }

  // Once a loss is no number, all that follow are none.
  bool has_failed() const override { return !std::isfinite(loss_); }
  void drain() override { check_loss(loss_, "cpu"); }

 private:
  // Backward passes run on the thread that calls submit().
  TrainerOptions options_of(device::Group& group) {
    TrainerOptions options = trainer_options(spec_, precision_, at::kCPU);
    if (group.size() == 1) return options;
    options.replicas = make_process_group(group, at::kCPU);
    options.watch = {.handed_over = [this] { handed_over_ns_ = measure::now_ns(); },
                     .averaged =
                         [this] {
                           delays_.serve(measure::Place::all_reduce);
                           averaged_ns_ = measure::now_ns();
                         }};
    return options;
  }
  std::string software() const {
    return "LibTorch " TORCH_VERSION + (ranks_ > 1 ? ", " + exchange_library(at::kCPU) : "") +
           (does_without_amx() ? ", without AMX" : "");
  }

  // `take`: returns the step's input.
  template <typename Take>
  void step(const Take& take) {
    guarded("cpu", spec_, [&] {
      const std::int64_t start = measure::now_ns();
      const TrainBatch ready = take();
      loss_ = trainer_.step(ready.input, ready.labels).template item<double>();
      delays_.serve(measure::Place::step);
      finished_.push_back({start, measure::now_ns(), loss_, averaged_ns_ - handed_over_ns_});
    });
  }

  // The step's input. A streamed batch's slab is free when this returns.
  TrainBatch take(pipeline::BatchLease batch) {
    switch (spec_.feed) {
      case device::Feed::synthetic:
        return synthetic_->next();
      case device::Feed::resident:
        return {prepare_(resident_.input, resident_parameters_), resident_.labels};
      case device::Feed::streamed:
        break;
    }
    TrainBatch ready{prepare_(borrow_pixels(*batch, spec_.batch), prepare_.parameters(*batch)),
                     copy_labels(*batch, spec_.classes)};
    delays_.serve(measure::Place::copy);
    return ready;
  }

  const device::StepSpec spec_;
  const Precision precision_;
  const int ranks_;
  measure::DelayServer delays_;  // copy, step and averaging are all this thread's
  std::int64_t handed_over_ns_ = 0, averaged_ns_ = 0;  // of the last step's gradients
  Trainer trainer_;
  const InputMaker prepare_;
  std::optional<SyntheticRing> synthetic_;
  TrainBatch resident_;  // its input as it came from the host
  at::Tensor resident_parameters_;
  double loss_ = 0;  // the last step's
  std::vector<device::StepRecord> finished_;
};

void check_spec(std::string_view argument, const device::StepSpec& spec) {
  if (!argument.empty()) {
    throw UsageError("--device cpu:" + std::string(argument), "cpu takes nothing after the colon",
                     "use --device cpu");
  }
  precision_from(spec.precision, kOffered, "cpu");
  check_model(spec);
}

std::unique_ptr<device::StepTrials> make_cpu_trials(std::string_view argument,
                                                    const device::StepSpec& spec) {
  check_spec(argument, spec);
  at::set_num_threads(spec.threads > 0 ? spec.threads : measure::allowed_cpus());
  return make_step_trials(spec, {.name = "cpu",
                                 .device = at::kCPU,
                                 .precision = precision_from(spec.precision, kOffered, "cpu"),
                                 .prepare = [](Precision, const device::StepOptions&) {},
                                 .make_runner = [](const device::StepOptions&) -> StepRunner {
                                   return [](const std::function<void()>& step) { step(); };
                                 },
                                 .synchronize = [] {},
                                 .free_memory = [] {}});
}

}  // namespace

device::AcceleratorKind cpu_kind() {
  return {.name = "cpu",
          .help = "trains on this machine's processors",
          .make = [](std::string_view argument, const device::StepSpec& spec,
                     device::Group& group) -> std::unique_ptr<device::Accelerator> {
            check_spec(argument, spec);
            return guarded("cpu", spec,
                           [&] { return std::make_unique<CpuAccelerator>(spec, group); });
          },
          .count = [] { return kMostReplicas; },
          .ranks_are_processes = true,
          .goes_on = true,
          .check = check_spec,
          .delays = {measure::kPlaces.begin(), measure::kPlaces.end()},
          .trials = make_cpu_trials};
}

}  // namespace feedrate::train
