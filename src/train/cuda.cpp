#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "device/leaving.h"
#include "device/registry.h"
#include "device/steps_in_flight.h"
#include "train/accelerators.h"
#include "train/devices_cuda.h"
#include "train/errors.h"
#include "train/inputs_cuda.h"
#include "train/jpeg_decoder.h"
#include "train/loss_watch_cuda.h"
#include "train/operators.h"
#include "train/pinned_slabs_cuda.h"
#include "train/process_group.h"
#include "train/step_graphs_cuda.h"
#include "train/step_trials.h"
#include "train/stream_delay_cuda.h"
#include "train/streams_cuda.h"
#include "train/trainer.h"

namespace feedrate::train {
namespace {

using c10::cuda::CUDAStream;
using Steps = device::StepsInFlight<CudaStreams>;

// Ends after what it stands before, whose memory LibTorch would else keep: another process may
// need it next, one that tries out ways of making a step.
struct FreesMemory {
  FreesMemory() = default;
  FreesMemory(const FreesMemory&) = delete;
  FreesMemory& operator=(const FreesMemory&) = delete;
  ~FreesMemory() {
    try {
      c10::cuda::CUDACachingAllocator::emptyCache();
    } catch (const std::exception&) {  // of a device that has failed
    }
  }
};

// Trains on a GPU: each submit() queues one step, and all that is known of it comes later.
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
        losses_(compute.device(), Steps::kMost),
        graphs_(spec.step, ranks_ > 1 ? kEagerStepsOfReplicas : device::GraphTurns::kEagerSteps,
                [this](const std::function<void()>& captures) { leaving_.capture(captures); }),
        leaving_(name_) {
    steps_.emplace(compute, watches_exchange(),
                   [this](std::size_t place) { losses_sum_ = losses_.sum(place); });
    if (spec.copies) inputs_.watch_copies(trace_copies());
  }
  // Graphs end before the communicator whose work they hold, which is the trainer's.
  ~CudaAccelerator() override {
    if (std::uncaught_exceptions() > 0) leave();
    CudaStreams::settle(compute_);
    graphs_.reset();
  }

  device::DeviceDescription describe() const override {
    return {.name = device_.name,
            .kind = "cuda",
            .software = cuda_software() + (ranks_ > 1 ? ", " + exchange_library(at::kCUDA) : ""),
            .pci_address = cuda_pci_address(device_.index),
            .kernels = graphs_.kernels()};
  }
  std::shared_ptr<pipeline::SlabAllocator> slabs() override {
    return spec_.pin_memory ? pinned_slabs() : pipeline::host_slabs();
  }

  void keep(const pipeline::HostBatch& batch) override {
    on_device([&] { inputs_.keep(batch); });
  }

  void submit(pipeline::BatchLease batch) override {
    step([&] { return inputs_.next(std::move(batch)); });
  }
  void submit_synthetic() override {
    step([&] { return inputs_.next_synthetic(); });
  }

  // The exchange ends at once, the thread in which it is abandoned when no graph holds any of it.
  void leave() noexcept override {
    leaving_.leave([this] {
      if (ranks_ > 1) trainer_.abandon_exchange();
    });
  }

  void collect(std::vector<device::StepRecord>& finished) override {
    if (leaving_.has_left()) return;
    on_device([&] {
      steps_->look();
      inputs_.release();
    });
    for (const device::StepRecord& step : steps_->take_finished()) finished.push_back(step);
  }

  // In the first steps cuDNN looks for its fastest kernels, and graphs are captured.
  bool settled() const override { return steps_->ended() >= settled_at_; }
  bool has_failed() const override { return !std::isfinite(losses_sum_); }

  device::Arrivals arrivals() const override { return inputs_.arrivals(); }

  std::vector<measure::TraceOperator> operators_of(const std::function<void()>& steps) override {
    return train::operators_of(/*on_gpu=*/true, steps);
  }

  void drain() override {
    on_device([&] {
      steps_->drain();
      inputs_.wait();
    });
    check_loss(losses_sum_, name_);
  }

 private:
  // `next`: brings the step's input to the slot that it returns.
  template <typename Next>
  void step(const Next& next) {
    on_device([&] {
      steps_->make_room();
      const std::size_t slot = next();
      leaving_.check();
      steps_->begin();  // normalising belongs to the step
      graphs_.run(slot, [&] {
        const TrainBatch ready = inputs_.make(slot);
        losses_.add(trainer_.step(ready.input, ready.labels));
      });
      step_delay_.queue(compute_);  // outside the graph, which would replay it as it was captured
      inputs_.done_reading(slot);
      losses_.copy_to_host(steps_->number(), compute_);
      steps_->end();
      if (!graphs_.settled(inputs_.slots())) settled_at_ = steps_->started() + 1;
    });
  }

  // The Reducer's first steps are unlike the later ones (PyTorch's notes on CUDA graphs with
  // DistributedDataParallel).
  static constexpr std::size_t kEagerStepsOfReplicas = 11;

  CopyEngine::Slots::Seen trace_copies() {
    return [this](const CudaStreams::Event& begun, const CudaStreams::Event& copied,
                  std::int64_t batch) {
      const auto& clock = steps_->clock();
      spec_.copies->add(measure::TraceKind::copy, clock.ns(begun), clock.ns(copied), batch);
    };
  }

  // Inside a graph, the waiting for gradients cannot be seen.
  bool watches_exchange() const { return ranks_ > 1 && !spec_.step.cuda_graph; }

  TrainerOptions options_of(device::Group& group) {
    TrainerOptions options = trainer_options(spec_, precision_, compute_.device());
    if (ranks_ > 1) options.replicas = make_process_group(group, compute_.device());
    if (watches_exchange()) {
      options.watch = {.handed_over = [this] { steps_->handed_over(); },
                       .averaged = [this] { steps_->averaged(); }};
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

  const FreesMemory frees_memory_;
  const device::StepSpec spec_;
  const CudaDevice device_;
  const std::string name_;
  const Precision precision_;
  const CUDAStream compute_;
  StreamDelay step_delay_;
  const int ranks_;
  Trainer trainer_;
  CudaInputs inputs_;
  LossWatch losses_;
  StepGraphs graphs_;
  std::optional<Steps> steps_;  // from when the stream is idle
  float losses_sum_ = 0;        // up to the last step that is known to have ended
  std::size_t settled_at_ = 1;  // steps that must have ended: the last unlike the others
  device::Leaving leaving_;     // ends before what it abandons
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

// On a stream of its own, which stays this thread's: one that is captured is not the default one.
std::unique_ptr<device::StepTrials> make_cuda_trials(std::string_view argument,
                                                     const device::StepSpec& spec) {
  check_model(spec);
  const CudaDevice device = cuda_device(argument, 0);
  const std::string name = "cuda:" + std::to_string(device.index);
  return guarded(name, spec, [&] {
    const CUDAStream compute = c10::cuda::getStreamFromPool(
        /*isHighPriority=*/false, static_cast<c10::DeviceIndex>(device.index));
    c10::cuda::set_device(compute.device_index());
    c10::cuda::setCurrentCUDAStream(compute);
    return make_step_trials(
        spec, {.name = name,
               .device = compute.device(),
               .precision = cuda_precision(spec.precision, device),
               .prepare = set_cuda_flags,
               .make_runner = [](const device::StepOptions& options) -> StepRunner {
                 const auto graphs = std::make_shared<StepGraphs>(options);
                 return [graphs](const std::function<void()>& step) { graphs->run(0, step); };
               },
               .synchronize = [compute] { compute.synchronize(); },
               .free_memory = [] { c10::cuda::CUDACachingAllocator::emptyCache(); }});
  });
}

}  // namespace

device::AcceleratorKind cuda_kind() {
  return {.name = "cuda",
          .help = "trains on NVIDIA GPUs (cuda:INDEX for one of several)",
          .make = make,
          .count = cuda_device_count,
          .ranks_are_processes = true,
          .goes_on = true,
          .check =
              [](std::string_view argument, const device::StepSpec& spec) {
                check_model(spec);
                if (spec.batch.encoded_slot != 0) check_nvjpeg();
                cuda_precision(spec.precision, cuda_device(argument, 0));
              },
          // Gradients are averaged within the step, and that may be a graph.
          .delays = {measure::Place::worker, measure::Place::copy, measure::Place::step,
                     measure::Place::storage},
          .trials = make_cuda_trials,
          .auto_precision =
              [](std::string_view argument) { return best_precision(cuda_device(argument, 0)); },
          .identity =
              [](std::string_view argument) { return cuda_identity(cuda_device(argument, 0)); }};
}

}  // namespace feedrate::train
