#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/arrivals.h"
#include "device/group.h"
#include "measure/module.h"
#include "pipeline/batch.h"
#include "pipeline/slab_ring.h"

namespace feedrate {

// Where a run's batches come from, as the device sees it.
enum class Feed : std::uint8_t {
  synthetic,  // a ring of ready, normalised random batches, made on the device before the run
  resident,   // one real batch, copied to the device once, normalised each step
  streamed,   // a batch from the host each step: copied, normalised, trained on
};

// How a training step runs: each field a rung on the way from the plain step to the highest ceiling. What does not
// concern a device is not looked at.
struct StepRungs {
  bool channels_last = true;           // memory format of weights and activations; else contiguous (NCHW)
  std::string batch_norm = "library";  // "counted", "library", "fused"
  std::string optimizer = "fused";     // "loop", "fused"
  bool master_weights = false;         // 16-bit precisions: 16-bit weights are kept beside fp32 ones; else autocast
  bool cudnn_benchmark = true;         // cuDNN tries its kernels, else it guesses (cuda)
  bool cuda_graph = false;             // the step is captured once and replayed (cuda)
};

// What one run asks of a device.
struct StepSpec {
  BatchSpec batch;              // what a streamed or resident batch looks like in host memory
  std::string model;            // "resnet50" ...
  int classes = 1000;
  std::string precision;        // "fp32", "tf32", "fp16", "bf16"; empty: the device has no choice
  bool pin_memory = false;      // slabs() hands out page-locked memory
  int threads = 0;              // of the training step on a CPU; 0: one per CPU
  StepRungs rungs;
  std::uint64_t seed = 0;       // of weights and synthetic batches
  Feed feed = Feed::streamed;
  // Batches are whole pictures: the device makes what HostBatch::augmentations say of them, in this size.
  std::optional<PixelSize> augment_to{};
  bool jitter = false;          // with augment_to: whether colours change
  // Batches are encoded pictures (batch.encoded_slot): the share, in percent, that the JPEG engine decodes where
  // there is one; the rest is decoded by the GPU's ordinary processors.
  int engine_share = 100;
};

// When one step ran on the device, on the clock of now_ns(). Steps end in order.
struct StepRecord {
  std::int64_t start_ns = 0;  // its batch was there and the step before had ended
  std::int64_t end_ns = 0;
  double loss = 0;            // NaN where the device has none (emulated) or did not read it
  std::int64_t sync_ns = 0;   // of the step: it waited for other ranks, or for gradients on their way between them
};

struct DeviceDescription {
  std::string name;             // "NVIDIA H200", "Intel Xeon ...", "NVIDIA A100 (EMULATED)"
  std::string kind;             // "cuda", "cpu", "emulated"
  double step_ms = 0;           // emulated: the length of a step; 0 where it is measured
  double bus_bytes_per_s = 0;   // emulated: host to device; 0 where it is measured
  std::string software;         // "LibTorch 2.11.0, ..."; empty for emulated
  std::string source;           // emulated: where the published rate comes from
  std::string precision;        // emulated: that it was published for
  std::string caveat;           // emulated: how the rate differs from the published one; empty: not
  std::string pci_address;      // cuda: "0000:1B:00.0"; empty for others
};

// One device of one rank: takes batches, makes steps. Used by one thread.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual DeviceDescription describe() const = 0;

  // Memory for the loader's slabs. Outlives the accelerator if somebody holds it.
  virtual std::shared_ptr<SlabAllocator> slabs() = 0;

  // Copies the batch for Feed::resident. Once, before the first submit().
  virtual void keep(const HostBatch& batch) = 0;

  // Queues one step; the batch is null unless the feed is `streamed`. Gives the slab back as soon as it
  // is copied. Returns without waiting for the step, but waits while two earlier steps are unfinished.
  // No device synchronisation beyond that. Throws an Error naming the device (out of memory, NaN, ...).
  virtual void submit(BatchLease batch) = 0;

  // Steps that ended since the last call, in order, appended to `finished`. Does not wait.
  virtual void collect(std::vector<StepRecord>& finished) = 0;

  // Whether the steps from now on are like those to come. A run is not measured before: a device may look for its
  // fastest kernels in its first steps.
  virtual bool settled() const { return true; }

  // Since it was made; all zero where nothing is copied.
  virtual Arrivals arrivals() const { return {}; }

  // Waits for every queued step; afterwards collect() has them all and no slab is held.
  virtual void drain() = 0;
};

// A kind of device: --device NAME or NAME:ARGUMENT.
struct AcceleratorKind {
  std::string name;
  std::string help;
  // `argument` is what follows the colon. Throws Error/UsageError if there is no such device.
  std::function<std::unique_ptr<Accelerator>(std::string_view argument, const StepSpec& spec, Group& group)> make;
  // How many devices of this kind the machine has; a run asks for no more.
  std::function<int()> count;
  // With several, each is a process of its own; else threads of one.
  bool ranks_are_processes = false;
  // Refuses, before anything is measured, an argument that make() would refuse.
  std::function<void(std::string_view argument, const StepSpec& spec)> check;
};

// The devices that this program knows; `train` adds its own when it is loaded.
class AcceleratorRegistry {
 public:
  AcceleratorRegistry();  // with the emulated devices
  void add(AcceleratorKind kind) { kinds_.push_back(std::move(kind)); }
  // The kind of "NAME" or "NAME:ARGUMENT"; loads the training library for `cpu` and `cuda`.
  const AcceleratorKind& find(std::string_view device);
  std::span<const AcceleratorKind> kinds() const { return kinds_; }

 private:
  std::vector<AcceleratorKind> kinds_;
  bool training_loaded_ = false;
};

// "emulated:a100" -> {"emulated", "a100"}
std::pair<std::string_view, std::string_view> split_device(std::string_view device);

// The one function that the training library exports (C linkage, name kRegisterSymbol).
using RegisterAccelerators = void (*)(AcceleratorRegistry& registry);
inline constexpr std::uint64_t kTrainingLayout =
    layout_of<AcceleratorRegistry, AcceleratorKind, StepSpec, StepRecord, DeviceDescription, HostBatch, Accelerator>();
inline constexpr const char* kRegisterSymbol = "feedrate_register_accelerators";

}  // namespace feedrate
