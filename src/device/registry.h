#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/module.h"
#include "device/accelerator.h"
#include "device/group.h"
#include "device/step_trials.h"
#include "measure/delays.h"

namespace feedrate::device {

// A kind of device: --device NAME or NAME:ARGUMENT.
struct AcceleratorKind {
  std::string name;
  std::string help;
  // `argument` is what follows the colon. Throws Error/UsageError if there is no such device.
  std::function<std::unique_ptr<Accelerator>(std::string_view argument, const StepSpec& spec,
                                             Group& group)>
      make;
  // How many devices of this kind the machine has; a run asks for no more.
  std::function<int()> count;
  // With several, each is a process of its own; else threads of one.
  bool ranks_are_processes = false;
  // Costly to make, and does its steps alike whatever it did before: a device of this kind,
  // drained, may go on with another run of the same spec.
  bool goes_on = false;
  // Refuses, before anything is measured, an argument that make() would refuse.
  std::function<void(std::string_view argument, const StepSpec& spec)> check;
  // Where a run on such a device can be delayed. The workers' place is the loader's.
  std::vector<measure::Place> delays{};
  // Steps with other options than the spec's, on trial. Null: its steps have none. Errors: as make.
  std::function<std::unique_ptr<StepTrials>(std::string_view argument, const StepSpec& spec)>
      trials{};
  // What `--precision auto` stands for; null: the same on all devices of the kind.
  std::function<std::string(std::string_view argument)> auto_precision{};
  // What a qualification holds for: device, driver, libraries. Null: `auto` of a step's options
  // stands for the same on all devices of the kind.
  std::function<std::string(std::string_view argument)> identity{};
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

// Whether this build can train at all; no library is loaded for the answer.
bool trains_on_devices();

// "emulated:a100" -> {"emulated", "a100"}
std::pair<std::string_view, std::string_view> split_device(std::string_view device);

// The one function that the training library exports (C linkage, name kRegisterSymbol).
using RegisterAccelerators = void (*)(AcceleratorRegistry& registry);
inline constexpr std::uint64_t kTrainingLayout =
    layout_of<AcceleratorRegistry, AcceleratorKind, StepSpec, StepRecord, DeviceDescription,
              pipeline::HostBatch, Accelerator>();
inline constexpr const char* kRegisterSymbol = "feedrate_register_accelerators";

}  // namespace feedrate::device
