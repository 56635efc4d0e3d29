#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/limit_options.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "device/registry.h"
#include "device/step_trace.h"
#include "plan/suite.h"
#include "session/capacity_search.h"
#include "session/reads_in_flight_search.h"
#include "storage/dataset.h"
#include "text/capacity_text.h"
#include "text/live_watcher.h"

namespace feedrate::cli {
namespace {

struct CapacityCommand {
  session::ExperimentOptions experiment;
  session::SearchOptions search;
  bool no_client = false;
};

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

// What --help shows of axes.
AxisDefaults shown_axes() {
  AxisDefaults shown = usual_axes();
  for (const char* axis : {"host-cpu-ms", "batch-size"})
    shown[axis] += "; of emulated:trace=FILE what was recorded";
  shown["image-size"] = "the only one that is stored, else mixed";
  shown["workers"] = "searched for, from 1 to 64";
  shown["io-depth"] = "searched for, from 1 to 64";
  shown["gpus"] = "searched for, up to --most-gpus";
  return shown;
}

// On the command line or in --config.
bool is_axis_typed(const session::ExperimentOptions& experiment, const std::string& axis) {
  const auto typed = experiment.axes.find(axis);
  if (typed != experiment.axes.end() && !typed->second.empty()) return true;
  if (experiment.config.empty()) return false;
  const plan::Suite suite = plan::read_suite(experiment.config);
  return suite.defaults.contains(axis) ||
         std::ranges::any_of(suite.sweeps,
                             [&](const plan::AxisValues& sweep) { return sweep.contains(axis); });
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
  set_defaults(experiment, usual);
  set_usual_size(experiment);
}

session::SearchedCell cell_to_search(CLI::App& app, session::ExperimentOptions& experiment) {
  set_usual_axes(experiment);
  std::vector<std::string>& gpus = experiment.axes["gpus"];
  if (!gpus.empty()) throw UsageError("--gpus", "is what is searched for", "use --most-gpus");
  gpus = {"1"};
  return session::searched_cell(only_cell_of(app, experiment, "searches for one kind of cell"));
}

int interrupted_by(int exit_code, session::Watcher& watcher) {
  watcher.warns("interrupted");
  return exit_code;
}

int capacity(CLI::App& app, CapacityCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const session::TypedReads typed{is_axis_typed(experiment, "workers"),
                                  is_axis_typed(experiment, "io-depth")};
  const bool is_usual_device = !is_axis_typed(experiment, "device");
  const session::SearchedCell asked = cell_to_search(app, experiment);
  set_capacity_limits(app, asked.step_s, experiment.run.limits);
  if (app.count("--max-seconds") > 0) command.search.slow_window_s = 0;
  session::refuse_old_results(experiment.output);
  text::LiveWatcher watcher(experiment.verbose);
  const session::ReadsFound reads =
      session::search_reads_in_flight(asked, experiment, typed, command.search, watcher);
  if (reads.interrupted) return interrupted_by(reads.interrupted, watcher);
  const session::SearchedCell searched = session::searched_cell_with(asked, reads.chosen);
  command.search.imgs_per_s = session::chosen_imgs_per_s(reads);
  const session::Found found = session::search_gpus(searched, experiment, command.search, watcher);
  const text::CapacityAnswer answer(searched, reads, found);
  int interrupted = found.interrupted;
  std::optional<session::ClientLimit> client;
  if (!command.no_client && !interrupted) {
    client = session::client_limit(searched, experiment, found, command.search, watcher);
    if (client) interrupted = client->interrupted;
  }
  answer.print(client, /*own_h200=*/is_usual_device);
  if (interrupted) return interrupted_by(interrupted, watcher);
  if (client) answer.print_client(*client);
  answer.print_proviso();
  // Flags stand under the answer, as everywhere: they do not change the exit code.
  return command.no_client || client ? 0 : 1;
}

}  // namespace

CommandEntry add_capacity(CLI::App& program) {
  const auto command = std::make_shared<CapacityCommand>();
  CLI::App* app = program.add_subcommand(
      "capacity",
      "How many GPUs this storage feeds, with emulated ones: at 90 and 95 % utilisation");
  add_experiment_options(*app, command->experiment, "Axes (one value each)", shown_axes());
  show_capacity_limits(*app);
  add_output_option(*app, command->experiment.output,
                    "keep the records, in a new ledger in this folder");
  add_count(*app, "--most-gpus", command->search.most_gpus, 1, 4096, "try no more than so many");
  add_repetitions(*app, command->search.repetitions,
                  "runs on both sides of each answer and from memory, for their intervals", 100);
  app->add_flag("--no-client", command->no_client,
                "do not measure what this machine manages from memory");
  return {app, [=] { return capacity(*app, *command); }};
}

}  // namespace feedrate::cli
