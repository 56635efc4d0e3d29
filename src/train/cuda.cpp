#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "train/accelerators.h"
#include "train/copy_engine_cuda.h"
#include "train/device_clock_cuda.h"
#include "train/devices_cuda.h"
#include "train/errors.h"
#include "train/host_batch.h"
#include "train/input_maker.h"
#include "train/pinned_slabs_cuda.h"
#include "train/synthetic.h"
#include "train/trainer.h"

namespace feedrate {
namespace {

using c10::cuda::CUDAEvent;
using c10::cuda::CUDAStream;

// fp32 means fp32: LibTorch's default lets cuDNN round to tf32.
void set_global_flags(Precision precision) {
  at::Context& context = at::globalContext();
  context.lazyInitDevice(at::kCUDA);
  context.setBenchmarkCuDNN(true);
  context.setAllowTF32CuDNN(precision == Precision::tf32);
  context.setAllowTF32CuBLAS(precision == Precision::tf32);
}

class CudaAccelerator : public Accelerator {
 public:
  // `compute` is the current stream.
  CudaAccelerator(const StepSpec& spec, CudaDevice device, CUDAStream compute)
      : spec_(spec),
        device_(std::move(device)),
        name_("cuda:" + std::to_string(device_.index)),
        precision_(cuda_precision(spec.precision, device_)),
        compute_(compute),
        trainer_({spec.model, spec.classes, precision_, compute.device(), spec.seed, {}}),
        prepare_(spec, compute.device(), input_type(precision_)),
        loss_sum_(at::zeros({}, at::TensorOptions(compute.device()).dtype(at::kFloat))) {
    if (spec.feed == Feed::streamed) copies_.emplace(spec.batch, compute);
    if (spec.feed == Feed::synthetic) {
      synthetic_.emplace(spec.batch, spec.classes, input_type(precision_), compute.device(),
                         spec.seed);
    }
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
    on_device([&] {
      resident_ = {borrow_pixels(batch, spec_.batch).to(compute_.device()),
                   copy_labels(batch, spec_.classes).to(compute_.device())};
      resident_parameters_ = prepare_.parameters(batch);
    });
  }

  void submit(BatchLease batch) override {
    on_device([&] {
      if (started_ - ended_ == kInFlight) retire_oldest();
      StepEvents& events = events_[started_ % kInFlight];
      const TrainBatch ready = take(std::move(batch), events);
      loss_sum_.add_(trainer_.step(ready.input, ready.labels));
      events.end.record(compute_);
      ++started_;
    });
  }

  void collect(std::vector<StepRecord>& finished) override {
    on_device([&] {
      while (ended_ < started_ && events_[ended_ % kInFlight].end.query()) retire_oldest();
      if (copies_) copies_->release();
    });
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }

  void drain() override {
    const double loss_sum = on_device([&] {
      while (ended_ < started_) retire_oldest();
      if (copies_) copies_->wait();
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

  // Queues what makes the step's input. The start event comes when the batch is there and the step
  // before, which is in front of it on the stream, has ended; normalising belongs to the step.
  TrainBatch take(BatchLease batch, StepEvents& events) {
    if (spec_.feed != Feed::streamed) {
      events.start.record(compute_);
      if (spec_.feed == Feed::synthetic) return synthetic_->next();
      return {prepare_(resident_.input, resident_parameters_), resident_.labels};
    }
    check_labels(*batch, spec_.classes);
    const at::Tensor parameters = prepare_.parameters(*batch);
    const DeviceBatch there = copies_->copy(std::move(batch));
    events.start.record(compute_);
    const TrainBatch ready{prepare_(there.pixels, parameters), there.labels.clone()};
    copies_->done_reading();
    return ready;
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
  const InputMaker prepare_;
  at::Tensor
      loss_sum_;  // once a loss is not finite, nor is the sum: read without waiting every step
  std::optional<CopyEngine> copies_;
  std::optional<SyntheticRing> synthetic_;
  TrainBatch resident_;  // its input as it came from the host
  at::Tensor resident_parameters_;
  std::optional<DeviceClock> clock_;
  std::array<StepEvents, kInFlight> events_;
  std::size_t started_ = 0, ended_ = 0;  // steps; those between are in flight
  std::vector<StepRecord> finished_;
};

std::unique_ptr<Accelerator> make(std::string_view argument, const StepSpec& spec, Group& group) {
  check_single_rank(group, "cuda");
  check_model(spec);
  CudaDevice device = cuda_device(argument, group.rank());
  const Precision precision = cuda_precision(spec.precision, device);
  return guarded("cuda:" + std::to_string(device.index), spec, [&] {
    set_global_flags(precision);
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
            cuda_precision(spec.precision, cuda_device(argument, 0));
          }};
}

}  // namespace feedrate
