#include "device/step_option.h"

#include <algorithm>
#include <stdexcept>

namespace feedrate::device {
namespace {

using O = StepOptions;
using Value = std::string_view;

std::string on_off(bool on) { return on ? "on" : "off"; }

// In the order of records.
constexpr StepOption kStepOptions[] = {
    {"memory-format", "contiguous",
     [](const O& o) -> std::string { return o.channels_last ? "channels_last" : "contiguous"; },
     [](O& o, Value v) { o.channels_last = v == "channels_last"; }},
    {"batch-norm", "counted", [](const O& o) { return o.batch_norm; },
     [](O& o, Value v) { o.batch_norm = v; }},
    {"optimizer", "loop", [](const O& o) { return o.optimizer; },
     [](O& o, Value v) { o.optimizer = v; }},
    {"master-weights", "off", [](const O& o) { return on_off(o.master_weights); },
     [](O& o, Value v) { o.master_weights = v == "on"; }},
    {"cudnn-benchmark", "",
     [](const O& o) { return o.cudnn_tries_all ? "all" : on_off(o.cudnn_benchmark); },
     [](O& o, Value v) { o.cudnn_benchmark = v != "off", o.cudnn_tries_all = v == "all"; }},
    {"cuda-graph", "off", [](const O& o) { return on_off(o.cuda_graph); },
     [](O& o, Value v) { o.cuda_graph = v == "on"; }},
    {"graph-memsets", "nodes",
     [](const O& o) -> std::string { return o.memset_kernels ? "kernels" : "nodes"; },
     [](O& o, Value v) { o.memset_kernels = v == "kernels"; }},
    {"stem", "convolution",
     [](const O& o) -> std::string { return o.space_to_depth ? "space-to-depth" : "convolution"; },
     [](O& o, Value v) { o.space_to_depth = v == "space-to-depth"; }},
};

}  // namespace

std::span<const StepOption> step_options() { return kStepOptions; }

const StepOption& step_option(std::string_view axis) {
  const auto found = std::ranges::find(kStepOptions, axis, &StepOption::axis);
  if (found == std::end(kStepOptions)) throw std::out_of_range(std::string(axis));
  return *found;
}

void copy_step_options(const std::set<std::string>& open, const StepOptions& from,
                       StepOptions& options) {
  for (const StepOption& option : kStepOptions)
    if (open.contains(std::string(option.axis))) option.set(options, option.value(from));
}

}  // namespace feedrate::device
