#include <ATen/Functions.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "device/registry.h"
#include "train/accelerators.h"
#include "train/device_clock_cuda.h"
#include "train/devices_cuda.h"
#include "train/errors.h"
#include "train/inputs_cuda.h"
#include "train/jpeg_decoder.h"
#include "train/operators.h"
#include "train/pinned_slabs_cuda.h"
#include "train/process_group.h"
#include "train/step_graphs_cuda.h"
#include "train/stream_delay_cuda.h"
#include "train/trainer.h"

namespace feedrate::train {
namespace {

using c10::cuda::CUDAEvent;
using c10::cuda::CUDAStream;

std::shared_ptr<float> pinned_floats(std::size_t count) {
  const auto slabs = pinned_slabs();
  const std::size_t bytes = count * sizeof(float);
  std::byte* const memory = slabs->allocate(bytes);
  return {reinterpret_cast<float*>(memory), [=](float*) { slabs->release(memory, bytes); }};
}

class CudaAccelerator : public device::Accelerator {
 public:
  // `compute` is the current stream.
  CudaAccelerator(const device::StepSpec& spec, CudaDevice device, CUDAStream compute,
                  device::Group& group)
      : spec_(spec),
        device_(std::move(device)),
        name_("cuda:" + std::to_string(device_.index)),
        precision_(cuda_precision(spec.precision, device_)),
        compute_(compute),
        step_delay_(spec.delays, measure::Place::step),
        ranks_(group.size()),
        trainer_(options_of(group)),
        inputs_(of_rank(spec, group), input_type(precision_), compute),
        loss_sum_(at::zeros({}, at::TensorOptions(compute.device()).dtype(at::kFloat))),
        loss_seen_(pinned_floats(kInFlight)),
        graphs_(spec.step.cuda_graph,
                ranks_ > 1 ? kEagerStepsOfReplicas : GraphTurns::kEagerSteps) {
    clock_.emplace(compute);
    if (spec.copies) inputs_.watch_copies(trace_copies());
  }
  ~CudaAccelerator() override {
    if (cudaStreamSynchronize(compute_.stream()) != cudaSuccess) cudaGetLastError();
  }

  device::DeviceDescription describe() const override {
    return {.name = device_.name,
            .kind = "cuda",
            .software = cuda_software() + (ranks_ > 1 ? ", " + exchange_library(at::kCUDA) : ""),
            .pci_address = cuda_pci_address(device_.index)};
  }
  std::shared_ptr<pipeline::SlabAllocator> slabs() override {
    return spec_.pin_memory ? pinned_slabs() : pipeline::host_slabs();
  }

  void keep(const pipeline::HostBatch& batch) override {
    on_device([&] { inputs_.keep(batch); });
  }

  void submit(pipeline::BatchLease batch) override {
    on_device([&] {
      if (started_ - ended_ == kInFlight) retire_oldest();
      StepEvents& events = events_[started_ % kInFlight];
      // A step starts when its batch is there and the step before, which is in front of it on the
      // stream, has ended; normalising belongs to the step.
      const std::size_t slot = inputs_.next(std::move(batch));
      events.start.record(compute_);
      graphs_.run(slot, [&] {
        const TrainBatch ready = inputs_.make(slot);
        loss_sum_.add_(trainer_.step(ready.input, ready.labels));
      });
      step_delay_.queue(compute_);  // outside the graph, which would replay it as it was captured
      inputs_.done_reading();
      C10_CUDA_CHECK(cudaMemcpyAsync(&loss_seen_.get()[started_ % kInFlight], loss_sum_.data_ptr(),
                                     sizeof(float), cudaMemcpyDeviceToHost, compute_.stream()));
      events.end.record(compute_);
      ++started_;
      if (!graphs_.settled(inputs_.slots())) settled_at_ = started_ + 1;
    });
  }

  void collect(std::vector<device::StepRecord>& finished) override {
    on_device([&] {
      while (ended_ < started_ && events_[ended_ % kInFlight].end.query()) retire_oldest();
      inputs_.release();
    });
    finished.insert(finished.end(), finished_.begin(), finished_.end());
    finished_.clear();
  }

  // In the first steps cuDNN looks for its fastest kernels, and graphs are captured.
  bool settled() const override { return ended_ >= settled_at_; }

  device::Arrivals arrivals() const override { return inputs_.arrivals(); }

  std::vector<measure::TraceOperator> operators_of(const std::function<void()>& steps) override {
    return train::operators_of(/*on_gpu=*/true, steps);
  }

  void drain() override {
    on_device([&] {
      while (ended_ < started_) retire_oldest();
      inputs_.wait();
    });
    if (ended_ > 0) check_loss(loss_seen_.get()[(ended_ - 1) % kInFlight], name_);
  }

 private:
  struct StepEvents {
    CUDAEvent start{cudaEventBlockingSync},
        end{cudaEventBlockingSync};  // a spinning wait costs loaders a CPU
    CUDAEvent handed_over{cudaEventDefault},
        averaged{cudaEventDefault};  // the gradients, where there are several ranks
  };
  static constexpr std::size_t kInFlight = 2;
  // The Reducer's first steps are unlike the later ones (PyTorch's notes on CUDA graphs with
  // DistributedDataParallel).
  static constexpr std::size_t kEagerStepsOfReplicas = 11;

  SeenCopy trace_copies() {
    return [this](const CUDAEvent& begun, const CUDAEvent& copied, std::int64_t batch) {
      spec_.copies->add(measure::TraceKind::copy, clock_->ns(begun), clock_->ns(copied), batch);
    };
  }

  // Inside a graph, the waiting for gradients cannot be seen.
  bool watches_exchange() const { return ranks_ > 1 && !spec_.step.cuda_graph; }

  TrainerOptions options_of(device::Group& group) {
    TrainerOptions options = trainer_options(spec_, precision_, compute_.device());
    if (ranks_ > 1) options.replicas = make_process_group(group, compute_.device());
    if (watches_exchange()) {
      options.watch = {
          .handed_over = [this] { events_[started_ % kInFlight].handed_over.record(compute_); },
          .averaged = [this] { events_[started_ % kInFlight].averaged.record(compute_); }};
    }
    return options;
  }

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
    device::StepRecord step{clock_->ns(events.start), clock_->ns(events.end),
                            std::numeric_limits<double>::quiet_NaN()};
    if (watches_exchange())
      step.sync_ns = static_cast<std::int64_t>(
          1e6 * static_cast<double>(events.handed_over.elapsed_time(events.averaged)));
    finished_.push_back(step);
    clock_->rebase(events.end);
    const float loss_sum = loss_seen_.get()[ended_++ % kInFlight];
    // With several ranks, one must not stop alone: the others' exchange would wait for it. At the
    // end all are at the same step.
    if (ranks_ == 1) check_loss(loss_sum, name_);
  }

  const device::StepSpec spec_;
  const CudaDevice device_;
  const std::string name_;
  const Precision precision_;
  const CUDAStream compute_;
  StreamDelay step_delay_;
  const int ranks_;
  std::array<StepEvents, kInFlight> events_;
  std::size_t started_ = 0, ended_ = 0;  // steps; those between are in flight
  Trainer trainer_;
  CudaInputs inputs_;
  at::Tensor loss_sum_;  // stays infinite or NaN once a loss was
  const std::shared_ptr<float>
      loss_seen_;  // [kInFlight], page-locked: the sum at the end of each step in flight
  StepGraphs graphs_;
  std::optional<DeviceClock> clock_;
  std::size_t settled_at_ = 1;  // steps that must have ended: the last unlike the others
  std::vector<device::StepRecord> finished_;
};

std::unique_ptr<device::Accelerator> make(std::string_view argument, const device::StepSpec& spec,
                                          device::Group& group) {
  check_model(spec);
  // A launcher may show each rank its own GPU alone.
  CudaDevice device = cuda_device(argument, cuda_device_count() == 1 ? 0 : group.local_rank());
  const Precision precision = cuda_precision(spec.precision, device);
  return guarded("cuda:" + std::to_string(device.index), spec, [&] {
    set_cuda_flags(precision, spec.step);
    const CUDAStream compute = c10::cuda::getStreamFromPool(
        /*isHighPriority=*/false, static_cast<c10::DeviceIndex>(device.index));
    const c10::cuda::CUDAStreamGuard current(compute);
    return std::make_unique<CudaAccelerator>(spec, std::move(device), compute, group);
  });
}

}  // namespace

device::AcceleratorKind cuda_kind() {
  return {.name = "cuda",
          .help = "trains on NVIDIA GPUs (cuda:INDEX for one of several)",
          .make = make,
          .count = cuda_device_count,
          .ranks_are_processes = true,
          .check =
              [](std::string_view argument, const device::StepSpec& spec) {
                check_model(spec);
                if (spec.batch.encoded_slot != 0) check_nvjpeg();
                cuda_precision(spec.precision, cuda_device(argument, 0));
              },
          // Gradients are averaged within the step, and that may be a graph.
          .delays = {measure::Place::worker, measure::Place::copy, measure::Place::step,
                     measure::Place::storage}};
}

}  // namespace feedrate::train
