#include <ATen/Functions.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "train/accelerators.h"
#include "train/device_clock_cuda.h"
#include "train/devices_cuda.h"
#include "train/errors.h"
#include "train/inputs_cuda.h"
#include "train/jpeg_decoder.h"
#include "train/pinned_slabs_cuda.h"
#include "train/step_graphs_cuda.h"
#include "train/trainer.h"

namespace feedrate {
namespace {

using c10::cuda::CUDAEvent;
using c10::cuda::CUDAStream;

class CudaAccelerator : public Accelerator {
 public:
  // `compute` is the current stream.
  CudaAccelerator(const StepSpec& spec, CudaDevice device, CUDAStream compute)
      : spec_(spec),
        device_(std::move(device)),
        name_("cuda:" + std::to_string(device_.index)),
        precision_(cuda_precision(spec.precision, device_)),
        compute_(compute),
        trainer_(trainer_options(spec, precision_, compute.device())),
        inputs_(spec, input_type(precision_), compute),
        loss_sum_(at::zeros({}, at::TensorOptions(compute.device()).dtype(at::kFloat))),
        graphs_(spec.rungs.cuda_graph) {
    clock_.emplace(compute);
  }
  ~CudaAccelerator() override {
    if (cudaStreamSynchronize(compute_.stream()) != cudaSuccess) cudaGetLastError();
  }

  DeviceDescription describe() const override { return {.name = device_.name, .kind = "cuda", .software = cuda_software()}; }
  std::shared_ptr<SlabAllocator> slabs() override {
    return spec_.pin_memory ? pinned_slabs() : host_slabs();
  }

  void keep(const HostBatch& batch) override {
    on_device([&] { inputs_.keep(batch); });
  }

  void submit(BatchLease batch) override {
    on_device([&] {
      if (started_ - ended_ == kInFlight) retire_oldest();
      StepEvents& events = events_[started_ % kInFlight];
      // A step starts when its batch is there and the step before, which is in front of it on the stream, has ended;
      // normalising belongs to the step.
      const std::size_t slot = inputs_.next(std::move(batch));
      events.start.record(compute_);
      graphs_.run(slot, [&] {
        const TrainBatch ready = inputs_.make(slot);
        loss_sum_.add_(trainer_.step(ready.input, ready.labels));
      });
      inputs_.done_reading();
      events.end.record(compute_);
      ++started_;
      if (!graphs_.settled(inputs_.slots())) settled_at_ = started_ + 1;
    });
  }

  void collect(std::vector<StepRecord>& finished) override {
    on_device([&] {
      while (ended_ < started_ && events_[ended_ % kInFlight].end.query()) retire_oldest();
      inputs_.release();
    });
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }

  // In the first steps cuDNN looks for its fastest kernels, and graphs are captured.
  bool settled() const override { return ended_ >= settled_at_; }

  void drain() override {
    const double loss_sum = on_device([&] {
      while (ended_ < started_) retire_oldest();
      inputs_.wait();
      return loss_sum_.item<double>();
    });
    check_loss(loss_sum, name_);
  }

 private:
  struct StepEvents {
    CUDAEvent start{cudaEventBlockingSync},
        end{cudaEventBlockingSync};  // a spinning wait costs loaders a CPU
  };
  static constexpr std::size_t kInFlight = 2;

  template <typename Body>
  std::invoke_result_t<Body> on_device(const Body& body) {
    return guarded(name_, spec_, [&] {
      const c10::cuda::CUDAStreamGuard current(compute_);
      return body();
    });
  }

  // Waits for the oldest step in flight and notes when it ran.
  void retire_oldest() {
    StepEvents& events = events_[ended_ % kInFlight];
    events.end.synchronize();
    finished_.push_back({clock_->ns(events.start), clock_->ns(events.end),
                         std::numeric_limits<double>::quiet_NaN()});
    clock_->rebase(events.end);
    ++ended_;
  }

  const StepSpec spec_;
  const CudaDevice device_;
  const std::string name_;
  const Precision precision_;
  const CUDAStream compute_;
  Trainer trainer_;
  CudaInputs inputs_;
  at::Tensor loss_sum_;  // once a loss is not finite, nor is the sum: read without waiting every step
  StepGraphs graphs_;
  std::optional<DeviceClock> clock_;
  std::array<StepEvents, kInFlight> events_;
  std::size_t started_ = 0, ended_ = 0;  // steps; those between are in flight
  std::size_t settled_at_ = 1;           // steps that must have ended: the last unlike the others
  std::vector<StepRecord> finished_;
};

std::unique_ptr<Accelerator> make(std::string_view argument, const StepSpec& spec, Group& group) {
  check_single_rank(group, "cuda");
  check_model(spec);
  CudaDevice device = cuda_device(argument, group.rank());
  const Precision precision = cuda_precision(spec.precision, device);
  return guarded("cuda:" + std::to_string(device.index), spec, [&] {
    set_cuda_flags(precision, spec.rungs);
    const CUDAStream compute = c10::cuda::getStreamFromPool(
        /*isHighPriority=*/false, static_cast<c10::DeviceIndex>(device.index));
    const c10::cuda::CUDAStreamGuard current(compute);
    return std::make_unique<CudaAccelerator>(spec, std::move(device), compute);
  });
}

}  // namespace

AcceleratorKind cuda_kind() {
  return {.name = "cuda",
          .help = "trains on one NVIDIA GPU (cuda:INDEX for one of several)",
          .make = make,
          // One: replicas that do not average their gradients would be a wrong number that looks right.
          .count = [] { return std::min(cuda_device_count(), 1); },
          .check = [](std::string_view argument, const StepSpec& spec) {
            check_model(spec);
            if (spec.batch.encoded_slot != 0) check_nvjpeg();
            cuda_precision(spec.precision, cuda_device(argument, 0));
          }};
}

}  // namespace feedrate
