#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <torch/version.h>

#include <fstream>
#include <optional>
#include <string>

#include "measure/clock.h"
#include "measure/error.h"
#include "train/accelerators.h"
#include "train/errors.h"
#include "train/host_batch.h"
#include "train/input_maker.h"
#include "train/synthetic.h"
#include "train/trainer.h"

namespace feedrate {
namespace {

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
class CpuAccelerator : public Accelerator {
 public:
  explicit CpuAccelerator(const StepSpec& spec)
      : spec_(spec),
        precision_(precision_from(spec.precision, kOffered, "cpu")),
        trainer_(trainer_options(spec, precision_, at::kCPU)),
        prepare_(spec, at::kCPU, input_type(precision_)) {
    at::set_num_threads(spec.threads > 0 ? spec.threads : allowed_cpus());
    if (spec.feed == Feed::synthetic) {
      synthetic_.emplace(spec, input_type(precision_), at::kCPU);
    }
  }

  DeviceDescription describe() const override { return {.name = cpu_name(), .kind = "cpu", .software = "LibTorch " TORCH_VERSION}; }
  std::shared_ptr<SlabAllocator> slabs() override { return host_slabs(); }

  void keep(const HostBatch& batch) override {
    resident_ = {borrow_pixels(batch, spec_.batch).clone(), copy_labels(batch, spec_.classes)};
    resident_parameters_ = prepare_.parameters(batch);
  }

  void submit(BatchLease batch) override {
    guarded("cpu", spec_, [&] {
      const std::int64_t start = now_ns();
      const TrainBatch ready = take(std::move(batch));
      const double loss = trainer_.step(ready.input, ready.labels).item<double>();
      finished_.push_back({start, now_ns(), loss});
      check_loss(loss, "cpu");
    });
  }

  void collect(std::vector<StepRecord>& finished) override {
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }
  void drain() override {}

 private:
  // The step's input. A streamed batch's slab is free when this returns.
  TrainBatch take(BatchLease batch) {
    switch (spec_.feed) {
      case Feed::synthetic:
        return synthetic_->next();
      case Feed::resident:
        return {prepare_(resident_.input, resident_parameters_), resident_.labels};
      case Feed::streamed:
        break;
    }
    return {prepare_(borrow_pixels(*batch, spec_.batch), prepare_.parameters(*batch)), copy_labels(*batch, spec_.classes)};
  }

  const StepSpec spec_;
  const Precision precision_;
  Trainer trainer_;
  const InputMaker prepare_;
  std::optional<SyntheticRing> synthetic_;
  TrainBatch resident_;  // its input as it came from the host
  at::Tensor resident_parameters_;
  std::vector<StepRecord> finished_;
};

void check(std::string_view argument, const StepSpec& spec) {
  if (!argument.empty()) {
    throw UsageError("--device cpu:" + std::string(argument), "cpu takes nothing after the colon",
                     "use --device cpu");
  }
  precision_from(spec.precision, kOffered, "cpu");
  check_model(spec);
}

}  // namespace

AcceleratorKind cpu_kind() {
  return {.name = "cpu",
          .help = "trains on this machine's processors",
          .make = [](std::string_view argument, const StepSpec& spec,
                     Group& group) -> std::unique_ptr<Accelerator> {
            check(argument, spec);
            check_single_rank(group, "cpu");
            return guarded("cpu", spec, [&] { return std::make_unique<CpuAccelerator>(spec); });
          },
          .count = [] { return 1; },
          .check = check};
}

}  // namespace feedrate
