#include "cli/capacity_options.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "cli/cells.h"
#include "cli/options.h"
#include "device/registry.h"
#include "device/step_trace.h"
#include "plan/suite.h"
#include "storage/dataset.h"

namespace feedrate::cli {
namespace {

// What a user of `capacity` has in mind who does not say otherwise.
AxisDefaults usual_axes() {
  return {{"data", "jpeg"},
          {"device", "emulated:a100"},
          // As on `cuda`.
          {"batch-size", "256"},
          {"workers", "1"},
          {"host-cpu-ms", "graph"},
          // 51 to 102 MB of gradients over 8 GPUs take 0.3 to 0.9 ms (tables of nccl-tests for
          // H100 and A100), most of it beside the backward pass.
          {"all-reduce-ms", "0.5"},
          {"page-cache", "cold"}};
}

// As of `run`: a dataset of one size means that one, which only_cell_of() fills in.
void set_usual_size(session::ExperimentOptions& experiment) {
  std::vector<std::string>& size = experiment.axes["image-size"];
  if (!experiment.config.empty() || !size.empty()) return;
  const bool holds_one =
      !experiment.data.empty() &&
      only_stored_size({experiment.axes.begin(), experiment.axes.end()}, experiment.data);
  if (!holds_one) size = {std::string(storage::kMixedSizes)};
}

void set_usual_axes(session::ExperimentOptions& experiment) {
  AxisDefaults usual = usual_axes();
  // A trace says itself what its steps cost, and of how many images they are.
  const std::vector<std::string>& devices = experiment.axes["device"];
  if (experiment.config.empty() && !devices.empty() && device::replays_steps(devices.front())) {
    const auto argument = device::split_device(devices.front()).second;
    usual["host-cpu-ms"] = "auto";
    usual["batch-size"] =
        std::to_string(device::read_step_trace(device::trace_name_from(argument)).batch_size);
  }
  if (experiment.config.empty() && !own_folder_axes(experiment).empty()) usual.erase("data");
  set_defaults(experiment, usual);
  set_usual_size(experiment);
}

}  // namespace

AxisDefaults shown_capacity_axes() {
  AxisDefaults shown = usual_axes();
  for (const char* axis : {"host-cpu-ms", "batch-size"})
    shown[axis] += "; of emulated:trace=FILE what was recorded";
  shown["data"] = kJpegUnlessOwn;
  shown["image-size"] = "the only one that is stored, else mixed";
  shown["workers"] = "searched for, from 1 to 64";
  shown["io-depth"] = "searched for, from 1 to 64";
  shown["gpus"] = "searched for, up to --most-gpus";
  return shown;
}

bool is_axis_typed(const session::ExperimentOptions& experiment, const std::string& axis) {
  const auto typed = experiment.axes.find(axis);
  if (typed != experiment.axes.end() && !typed->second.empty()) return true;
  if (experiment.config.empty()) return false;
  const plan::Suite suite = plan::read_suite(experiment.config);
  return suite.defaults.contains(axis) ||
         std::ranges::any_of(suite.sweeps,
                             [&](const plan::AxisValues& sweep) { return sweep.contains(axis); });
}

session::SearchedCell cell_to_search(CLI::App& app, session::ExperimentOptions& experiment) {
  set_usual_axes(experiment);
  std::vector<std::string>& gpus = experiment.axes["gpus"];
  if (!gpus.empty()) throw UsageError("--gpus", "is what is searched for", "use --most-gpus");
  gpus = {"1"};
  return session::searched_cell(only_cell_of(app, experiment, "searches for one kind of cell"));
}

}  // namespace feedrate::cli
