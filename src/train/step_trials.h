#pragma once
#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <string>

#include "device/step_trials.h"
#include "models/resnet.h"
#include "train/precision.h"

namespace feedrate::train {

// Runs a step on memory that is the same each time: by itself, or as a graph once it was captured.
using StepRunner = std::function<void(const std::function<void()>& step)>;

// What trials need of a device beside its tensors.
struct TrialDevice {
  std::string name;  // for errors
  c10::Device device = at::kCPU;
  Precision precision = Precision::fp32;
  // Before steps with these options and that precision: what the whole process computes by.
  std::function<void(Precision, const device::StepOptions&)> prepare;
  std::function<StepRunner(const device::StepOptions&)> make_runner;
  std::function<void()> synchronize;  // waits for all that was queued
  std::function<void()> free_memory;  // that nobody uses any more
  // Called with each network that was made; for tests, which plant a fault in it. May be empty.
  std::function<void(models::ResNet&, const device::StepOptions&)> made{};
};

// Trials of the steps of `spec`, with other options than its own. The errors of a few steps are of
// 16 images at most.
std::unique_ptr<device::StepTrials> make_step_trials(const device::StepSpec& spec,
                                                     TrialDevice device);

}  // namespace feedrate::train
