#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/limit_options.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "device/step_trace.h"
#include "session/capacity_search.h"
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
          {"image-size", std::string(storage::kMixedSizes)},
          {"device", "emulated:a100"},
          {"workers", "1"},
          // What a step of PyTorch costs its host: about 1,470 kernel launches (the trace of
          // ResNet-50 that comes with github.com/pytorch/kineto) of 5 to 10 us make 7 to 15 ms.
          {"host-cpu-ms", "10"},
          // 51 to 102 MB of gradients over 8 GPUs take 0.3 to 0.9 ms (tables of nccl-tests for
          // H100 and A100), most of it beside the backward pass.
          {"all-reduce-ms", "0.5"},
          {"page-cache", "cold"}};
}

// What --help shows of axes.
AxisDefaults shown_axes() {
  AxisDefaults shown = usual_axes();
  shown["host-cpu-ms"] += "; of emulated:trace=FILE what was recorded";
  shown["gpus"] = "searched for, up to --most-gpus";
  return shown;
}

void set_usual_axes(session::ExperimentOptions& experiment) {
  AxisDefaults usual = usual_axes();
  // A trace says itself what its steps cost.
  const std::vector<std::string>& devices = experiment.axes["device"];
  if (!devices.empty() && device::replays_steps(devices.front())) usual["host-cpu-ms"] = "auto";
  set_defaults(experiment, usual);
}

session::SearchedCell cell_to_search(CLI::App& app, session::ExperimentOptions& experiment) {
  set_usual_axes(experiment);
  std::vector<std::string>& gpus = experiment.axes["gpus"];
  if (!gpus.empty()) throw UsageError("--gpus", "is what is searched for", "use --most-gpus");
  gpus = {"1"};
  return session::searched_cell(only_cell_of(app, experiment, "searches for one kind of cell"));
}

int capacity(CLI::App& app, CapacityCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const session::SearchedCell searched = cell_to_search(app, experiment);
  set_capacity_limits(app, searched.step_s, experiment.run.limits);
  text::LiveWatcher watcher(experiment.verbose);
  const session::Found found = session::search_gpus(searched, experiment, command.search, watcher);
  const text::CapacityAnswer answer(searched, found);
  answer.print();
  int interrupted = found.interrupted;
  std::optional<session::ClientLimit> client;
  if (!command.no_client && !interrupted) {
    const int most_gpus = found.search.runs().rbegin()->first;
    client = session::client_limit(searched, experiment, most_gpus, watcher);
    if (client) interrupted = client->interrupted;
  }
  if (interrupted) {
    watcher.warns("interrupted");
    return interrupted;
  }
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
                  "runs on both sides of each answer, for its interval", 100);
  app->add_flag("--no-client", command->no_client,
                "do not measure what this machine manages from memory");
  return {app, [=] { return capacity(*app, *command); }};
}

}  // namespace feedrate::cli
