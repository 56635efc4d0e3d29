#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "device/step_trace.h"
#include "pipeline/loader.h"
#include "session/capacity_search.h"
#include "session/session.h"
#include "storage/dataset.h"
#include "text/capacity_text.h"
#include "text/live_watcher.h"

namespace feedrate::cli {
namespace {

// What a step of PyTorch costs its host: about 1,470 kernel launches (the trace of ResNet-50 that
// comes with github.com/pytorch/kineto) of 5 to 10 us make 7 to 15 ms.
constexpr const char* kHostCpuMs = "10";
// 51 to 102 MB of gradients over 8 GPUs take 0.3 to 0.9 ms (tables of nccl-tests for H100 and
// A100), most of it beside the backward pass.
constexpr const char* kAllReduceMs = "0.5";

struct CapacityCommand {
  session::ExperimentOptions experiment;
  int most_gpus = 64, repetitions = 3;
  bool no_client = false;
};

// What a user of `capacity` has in mind who does not say otherwise.
const std::map<std::string, std::string>& defaults() {
  static const std::map<std::string, std::string> values = {
      {"data", "jpeg"},
      {"image-size", std::string(storage::kMixedSizes)},
      {"device", "emulated:a100"},
      {"workers", "1"},
      {"host-cpu-ms", kHostCpuMs},
      {"all-reduce-ms", kAllReduceMs},
      {"page-cache", "cold"}};
  return values;
}

void set_defaults(session::ExperimentOptions& experiment) {
  if (!experiment.config.empty()) return;  // which flags would override
  const bool says_host_cpu = !experiment.axes["host-cpu-ms"].empty();
  for (const auto& [axis, value] : defaults()) {
    if (experiment.axes[axis].empty()) experiment.axes[axis] = {value};
  }
  // A trace says itself what its steps cost.
  if (!says_host_cpu && device::replays_steps(experiment.axes["device"].front()))
    experiment.axes["host-cpu-ms"] = {"auto"};
}

// What --help shows of axes.
std::map<std::string, std::string> shown_defaults() {
  std::map<std::string, std::string> shown = defaults();
  shown["host-cpu-ms"] += "; of emulated:trace=FILE what was recorded";
  shown["gpus"] = "searched for, up to --most-gpus";
  return shown;
}

// Many short runs tell more than one long one: each has a few seconds, or as many steps as an
// interval needs.
constexpr double kMaxWarmupSeconds = 2, kMinSeconds = 4, kSteps = 22, kMoreSeconds = 1;

void set_capacity_limits(const CLI::App& app, double step_s, run::RunLimits& limits) {
  if (app.count("--max-warmup-seconds") == 0) limits.max_warmup_seconds = kMaxWarmupSeconds;
  if (app.count("--min-seconds") == 0) limits.min_seconds = std::max(kMinSeconds, kSteps * step_s);
  if (app.count("--max-seconds") == 0)
    limits.max_seconds = kMoreSeconds + std::max(limits.min_seconds, kSteps * step_s);
}

// What --help shows of them.
void show_default_limits(CLI::App& app) {
  app.get_option("--max-warmup-seconds")->default_str(format("%g", kMaxWarmupSeconds));
  app.get_option("--min-seconds")->default_str(format("%g, or %g steps", kMinSeconds, kSteps));
  app.get_option("--max-seconds")
      ->default_str(format("%g + min-seconds, or %g steps", kMoreSeconds, kSteps));
}

device::EmulatedDevice emulated_of(const plan::CellSettings& settings) {
  return device::emulated_device(settings.device_argument, settings.step_spec(0));
}

session::ColdPass pass_of(const plan::CellSettings& settings,
                          const storage::DatasetVariant& dataset,
                          const device::EmulatedDevice& emulated) {
  const auto samples = static_cast<double>(dataset.samples.size());
  const auto& loader = pipeline::find_loader_kind(settings.loader);
  return {.steps = samples / settings.batch_size,
          .step_s = settings.batch_size / emulated.imgs_per_s,
          .steps_ahead = loader.batches_ahead(settings.prefetch, settings.workers)};
}

// What cannot be searched for. Throws a UsageError.
void check_kind(const session::ExperimentOptions& experiment, const plan::CellSettings& settings) {
  if (!settings.emulated()) {
    throw UsageError("--device " + settings.device, "is measured by `feedrate run`, not emulated",
                     "use --device emulated:NAME, emulated:IMGS_PER_S or emulated:trace=FILE");
  }
  if (std::isinf(emulated_of(settings).imgs_per_s))
    throw UsageError("--device " + settings.device, "takes any rate", "give it one");
  if (settings.variant().empty() || settings.cache != "none") {
    throw UsageError("--data " + settings.data + " --cache " + settings.cache,
                     "does not read the storage at each step", "use --cache none and stored data");
  }
  if (const auto gpus = experiment.axes.find("gpus");
      gpus != experiment.axes.end() && !gpus->second.empty())
    throw UsageError("--gpus", "is what is searched for", "use --most-gpus");
}

// What Ledger refuses as well, with the remedy of a sweep: a search is never gone on with. Throws
// an Error.
void check_output(const std::filesystem::path& output) {
  if (output.empty()) return;
  for (const std::filesystem::path& folder : {output, output / session::kClientFolder}) {
    const std::filesystem::path ledger = folder / "ledger.jsonl";
    std::error_code none;
    const auto bytes = std::filesystem::file_size(ledger, none);
    if (none || bytes == 0) continue;
    throw Error(
        ledger.string(), "already holds results",
        "a search begins anew and is in a ledger of its own: choose another folder, -o DIR");
  }
}

// What this machine manages without the storage; nothing where that cannot be measured, which is
// said.
std::optional<session::ClientLimit> try_client(const plan::Cell& cell,
                                               const session::ExperimentOptions& experiment,
                                               int gpus, double host_cpu_ms,
                                               session::Watcher& watcher) {
  try {
    return session::client_limit(cell, experiment, gpus, host_cpu_ms, watcher);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "feedrate: what this machine manages from memory is not known: %s\n",
                 error.what());
    return std::nullopt;
  }
}

int interrupted(int exit_code) {
  std::fprintf(stderr, "feedrate: interrupted\n");
  return exit_code;
}

// With one GPU. Reads the config's options, the dataset among them.
plan::Cell only_cell(CLI::App& app, session::ExperimentOptions& experiment) {
  const auto gpus = experiment.axes["gpus"];
  experiment.axes["gpus"] = {"1"};
  const std::vector<plan::Cell> cells = cells_of(app, experiment);
  experiment.axes["gpus"] = gpus;  // check_kind() refuses it
  if (cells.size() == 1) return cells.front();
  throw UsageError(
      "feedrate capacity",
      "searches for one kind of cell, these options make " + std::to_string(cells.size()),
      "give one value for each axis");
}

int capacity(CLI::App& app, CapacityCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  set_defaults(experiment);
  const plan::Cell cell = only_cell(app, experiment);
  const plan::CellSettings settings = plan::settings_of(cell);
  check_kind(experiment, settings);
  check_output(experiment.output);
  const device::EmulatedDevice emulated = emulated_of(settings);
  set_capacity_limits(app, settings.batch_size / emulated.imgs_per_s, experiment.run.limits);
  const double host_cpu_ms = device::host_cpu_ms(emulated, settings.emulation);
  session::SearchOptions options{.limits = experiment.run.limits,
                                 .most_gpus = command.most_gpus,
                                 .repetitions = command.repetitions,
                                 .takes_cpu = host_cpu_ms > 0};
  text::LiveWatcher watcher(experiment.verbose);
  std::shared_ptr<const storage::DatasetVariant> dataset;
  std::optional<session::Found> found;
  {
    session::Session measuring(experiment, {cell}, std::nullopt, watcher);
    if (!measuring.ready()) return measuring.exit_code(1);
    dataset = measuring.dataset_of(cell);
    options.pass = pass_of(settings, *dataset, emulated);
    measuring.open_ledger({}, /*resume=*/false);
    found = session::search_gpus(measuring, cell, emulated, options);
    if (found->interrupted) {
      text::CapacityAnswer(settings, emulated, *dataset).print_so_far(*found);
      return interrupted(measuring.exit_code(1));
    }
  }
  const text::CapacityAnswer answer(settings, emulated, *dataset);
  answer.print(*found);
  bool is_all_known = true;
  if (!command.no_client) {
    const auto client =
        try_client(cell, experiment, found->search.runs().rbegin()->first, host_cpu_ms, watcher);
    if (client && client->interrupted) return interrupted(client->interrupted);
    if (client) answer.print_client(*found, *client);
    is_all_known = client.has_value();
  }
  std::printf(
      "\nAU is computed as MLPerf Storage defines it, for each run. The GPUs are emulated: this is "
      "no result of that or any consortium's benchmark.\n");
  // Flags stand under the answer, as everywhere: they do not change the exit code.
  return is_all_known ? 0 : 1;
}

}  // namespace

CommandEntry add_capacity(CLI::App& program) {
  const auto command = std::make_shared<CapacityCommand>();
  CLI::App* app = program.add_subcommand(
      "capacity",
      "How many GPUs this storage feeds, with emulated ones: at 90 and 95 % utilisation");
  add_experiment_options(*app, command->experiment, "Axes (one value each)", shown_defaults());
  show_default_limits(*app);
  app->add_option("-o,--output", command->experiment.output,
                  "keep the records, in a new ledger in this folder")
      ->type_name("DIR");
  app->add_option("--most-gpus", command->most_gpus, "try no more than so many")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app->add_option("--repetitions", command->repetitions,
                  "runs on both sides of each answer, for its interval")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app->add_flag("--no-client", command->no_client,
                "do not measure what this machine manages from memory");
  return {app, [=] { return capacity(*app, *command); }};
}

}  // namespace feedrate::cli
