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
#include "measure/delays.h"
#include "measure/trace.h"
#include "pipeline/batch.h"
#include "pipeline/resize.h"
#include "pipeline/slab_ring.h"

namespace feedrate::device {

// Where a run's batches come from, as the device sees it.
enum class Feed : std::uint8_t {
  synthetic,  // a ring of ready, normalised batches of pictures or noise, made before the run
  resident,   // one real batch, copied to the device once, normalised each step
  streamed,   // a batch from the host each step: copied, normalised, trained on
};

// How a training step runs: each field is a step from the plain way to the highest ceiling. A
// device ignores the fields that do not concern it.
struct StepOptions {
  bool channels_last = true;  // memory format of weights and activations; else contiguous (NCHW)
  std::string batch_norm = "library";  // "counted", "library", "fused"
  std::string optimizer = "fused";     // "loop", "fused"
  bool master_weights =
      false;  // 16-bit precisions: 16-bit weights are kept beside fp32 ones; else autocast
  bool cudnn_benchmark = true;   // cuDNN tries its kernels, else it guesses (cuda)
  bool cudnn_tries_all = false;  // not only the ten that it guesses to be the fastest
  bool cuda_graph = false;       // the step is captured once and replayed (cuda)
  bool memset_kernels = false;   // kernels fill what the captured step's memsets do (cuda)
  bool space_to_depth = false;   // the first convolution reads blocks of 2x2 pixels (NHWC)
  // Of a trial: "fp16" instead of the run's bf16, if that has been left to the device; else empty.
  std::string trial_precision;
  bool operator==(const StepOptions&) const = default;
};

// What a device makes of whole pictures, as HostBatch::augmentations say.
struct DeviceAugmentation {
  codec::PixelSize output;
  pipeline::ResizeFilter filter = pipeline::ResizeFilter::antialias;  // or bilinear
  bool jitter = false;                                                // whether colours change
  // Not none: a window of `output` pixels, masked and coloured; neither resized nor flipped.
  pipeline::MaskColour mask_colour = pipeline::MaskColour::none;
  bool operator==(const DeviceAugmentation&) const = default;
};

// What an emulated step costs beside the device's own time.
struct Emulation {
  // CPU time that it burns in the training thread, as launching a step's kernels does; -1: what the
  // trace says, or none.
  double host_cpu_ms = -1;
  double all_reduce_ms = 0;  // time at the end of each step, with several ranks
  bool operator==(const Emulation&) const = default;
};

// Fills `pixels` with pictures of `size`: uint8, RGB, one behind the other. The same for the same
// arguments; thread-safe.
using DrawPictures = void (*)(std::uint64_t seed, codec::PixelSize size,
                              std::span<std::uint8_t> pixels);

// Outputs of the network: ImageNet's classes, so that rates compare. A dataset of more classes
// needs more (run::Datasets::outputs()).
inline constexpr int kUsualOutputs = 1000;

// What one run asks of a device.
struct StepSpec {
  pipeline::BatchSpec batch;  // what a streamed or resident batch looks like in host memory
  std::string model;          // "resnet50" ...
  int classes = kUsualOutputs;
  std::string precision;    // "fp32", "tf32", "fp16", "bf16"; empty: the device has no choice
  bool pin_memory = false;  // slabs() hands out page-locked memory
  int threads = 0;          // of the training step on a CPU; 0: one per CPU
  StepOptions step;
  std::uint64_t seed = 0;  // of weights and synthetic batches
  Feed feed = Feed::streamed;
  bool synthetic_beside = false;  // submit_synthetic() will be called, whatever the feed
  DrawPictures draw = nullptr;    // what synthetic batches show; null: normal noise
  std::optional<DeviceAugmentation> augmentation{};  // batches are whole pictures
  // Batches are encoded pictures (batch.encoded_slot): the share, in percent, that the JPEG engine
  // decodes where there is one; the rest is decoded by the GPU's ordinary processors.
  int engine_share = 100;
  Emulation emulation{};
  measure::TraceLane* copies = nullptr;  // where each copy is kept; outlives the device
  // Of its copies, steps and averaging of gradients; outlives the device. Null: none.
  const measure::Delays* delays = nullptr;
  bool operator==(const StepSpec&) const = default;
};

// How a device's error begins that says that the batch does not fit into its memory.
inline constexpr const char* kOutOfMemory = "out of memory with ";

// When one step ran on the device, on the clock of now_ns(). Steps end in order.
struct StepRecord {
  std::int64_t start_ns = 0;  // its batch was there and the step before had ended
  std::int64_t end_ns = 0;
  double loss = 0;  // NaN where the device has none (emulated) or did not read it
  std::int64_t sync_ns =
      0;  // time within the step that it waited for other ranks or their gradients
};

struct DeviceDescription {
  std::string name;            // "NVIDIA H200", "Intel Xeon ...", "500 img/s (EMULATED)"
  std::string kind;            // "cuda", "cpu", "emulated"
  double step_ms = 0;          // emulated: the mean length of a step; 0 where it is measured
  double host_cpu_ms = 0;      // emulated: CPU time that it burns on the host
  double all_reduce_ms = 0;    // emulated: at the end of each step
  double bus_bytes_per_s = 0;  // emulated: host to device; 0 where it is measured
  std::string software;        // "LibTorch 2.11.0, ..."; empty for emulated
  std::string source;          // emulated: where the published rate comes from
  std::string precision;       // emulated: that it was published for
  std::string caveat;          // emulated: how the rate differs from the published one; empty: not
  std::string pci_address;     // cuda: "0000:1B:00.0"; empty for others
  // cuda: a hash over the names of the kernels of cuDNN, cuBLAS and NCCL in a step that is a graph
  // and was captured: 16 hex digits. Empty where nobody knows them.
  std::string kernels{};
};

// One device of one rank: takes batches, makes steps. Used by one thread.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual DeviceDescription describe() const = 0;

  // Memory for the loader's slabs. Outlives the accelerator if somebody holds it.
  virtual std::shared_ptr<pipeline::SlabAllocator> slabs() = 0;

  // Copies the batch for Feed::resident. Once, before the first submit().
  virtual void keep(const pipeline::HostBatch& batch) = 0;

  // Queues one step; the batch is null unless the feed is `streamed`. Gives the slab back as soon
  // as it is copied. Returns without waiting for the step, but waits while two earlier steps are
  // unfinished. No device synchronisation beyond that. Throws an Error naming the device (out of
  // memory, ...).
  virtual void submit(pipeline::BatchLease batch) = 0;

  // The same with a synthetic batch, beside a feed of another kind: a step at the ceiling. Only
  // where StepSpec::synthetic_beside.
  virtual void submit_synthetic() = 0;

  // Steps that ended since the last call, in order, appended to `finished`. Does not wait.
  virtual void collect(std::vector<StepRecord>& finished) = 0;

  // Whether the device's first steps are over, in which it may look for its fastest kernels. The
  // window opens only then.
  virtual bool settled() const { return true; }

  // Whether a step has gone wrong of which drain() will throw. It throws nothing before: its work
  // may hold an exchange of gradients, so that all ranks must stop at the same step.
  virtual bool has_failed() const { return false; }

  // Since it was made; all zero where nothing is copied.
  virtual Arrivals arrivals() const { return {}; }

  // Calls steps(), which submits some and drains, and says what operators they were made of, as far
  // as the device knows any. Steps are slower meanwhile.
  virtual std::vector<measure::TraceOperator> operators_of(const std::function<void()>& steps) {
    steps();
    return {};
  }

  // Its rank stops, and the others may not make what its steps wait for: these need not end as they
  // should, and collect() has no more of them. Any thread may call it, also while another is inside
  // a call, which then ends. Afterwards the accelerator is only destroyed.
  virtual void leave() noexcept {}

  // Waits for every queued step; afterwards collect() has them all and no slab is held. Throws an
  // Error where has_failed() holds.
  virtual void drain() = 0;
};

}  // namespace feedrate::device
