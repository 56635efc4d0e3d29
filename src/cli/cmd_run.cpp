#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/whole_file.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/small_dataset.h"
#include "device/step_trace.h"
#include "session/ranks.h"
#include "session/session.h"
#include "session/signals.h"
#include "text/live_run.h"
#include "text/live_watcher.h"

namespace feedrate::cli {
namespace {

struct RunCommand {
  session::ExperimentOptions experiment;
  int repetitions = 1;
  bool json = false;
  bool no_ceiling = false;
  bool measures_the_ceiling = false;  // the cell is synthetic: its ceiling is itself
  std::filesystem::path record_steps;
};

// What `emulated:trace=FILE` replays.
device::StepTrace trace_of(const run::CellResult& result) {
  const plan::CellSettings& s = result.settings;
  const run::Measurement& m = *result.measurement;
  device::StepTrace trace{.device = m.device.name,
                          .model = s.model,
                          .precision = s.precision,
                          .batch_size = s.batch_size,
                          .input_size = s.input_size,
                          .host_cpu_ms = 0,
                          .step_ms = m.step_ms.values};
  // On a CPU the step itself is what takes the time.
  if (m.device.kind != "cpu" && m.steps > 0 && !m.machines.empty()) {
    trace.host_cpu_ms =
        1e3 * std::max(0.0, m.machines.front().use.process_cpu_s) / static_cast<double>(m.steps);
  }
  return trace;
}

// Before anything is measured.
void check_recording(const plan::Cell& cell, const std::filesystem::path& file) {
  if (!cell.is("data", "synthetic") || !cell.is("gpus", "1")) {
    throw UsageError("--record-steps", "records the steps of one device without any loading",
                     "use --data synthetic --gpus 1");
  }
  check_replaceable(file);
}

// A name that means the same to the ranks' processes. Refuses one that cannot be written, before
// anything is measured.
void settle_trace(std::filesystem::path& file) {
  if (file.empty()) return;
  check_replaceable(file);
  file = std::filesystem::absolute(file);
}

void check_operators(const plan::Cell& cell, const std::filesystem::path& trace) {
  const std::string device(cell["device"].value_or(""));
  if (trace.empty()) {
    throw UsageError("--trace-operators", "there is no trace that they could be in",
                     "say where: --trace FILE");
  }
  if (device.starts_with("emulated")) {
    throw UsageError("--trace-operators", "an emulated device runs no operators",
                     "leave it out, or use --device cuda or cpu");
  }
  if (cell.is("page-cache", "cold")) {
    throw UsageError("--trace-operators",
                     "watches some steps behind the window, and a cold run "
                     "is one pass over the data, which is then over",
                     "use --page-cache warm");
  }
  // Before LibTorch is loaded: its profiler calls it an error that a machine has no GPU.
  setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);
}

// The cell with its ceiling, as often as was asked for.
std::vector<plan::PlannedRun> repeated_plan(const plan::Cell& cell, const RunCommand& command) {
  std::vector<plan::PlannedRun> all;
  for (int repetition = 0; repetition < command.repetitions; ++repetition) {
    // A trace shows the way of one cell's batches, without its ceiling's between them.
    for (plan::PlannedRun run :
         plan::plan_run(cell, !command.no_ceiling, command.experiment.trace.empty())) {
      run.repetition = repetition;
      all.push_back(std::move(run));
    }
  }
  return all;
}

// `feedrate run` and nothing that says what to measure.
bool names_nothing(const RunCommand& command) {
  const session::ExperimentOptions& typed = command.experiment;
  return typed.config.empty() && typed.data.empty() && typed.trace.empty() &&
         command.record_steps.empty() &&
         std::ranges::all_of(typed.axes, [](const auto& axis) { return axis.second.empty(); });
}

int run(CLI::App& app, RunCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const auto launch = session::find_launch(experiment);
  const std::vector<plan::Cell> cells = cells_of(app, experiment);
  if (cells.size() != 1) {
    throw UsageError("feedrate run",
                     "measures one cell, these options make " + std::to_string(cells.size()),
                     "give one value for each axis, or use `feedrate sweep`");
  }
  if (!command.record_steps.empty()) check_recording(cells.front(), command.record_steps);
  if (experiment.run.trace_operators) check_operators(cells.front(), experiment.trace);
  settle_trace(experiment.trace);
  command.measures_the_ceiling = cells.front().is("data", "synthetic");
  const auto plan = repeated_plan(cells.front(), command);
  text::LiveWatcher watcher(experiment.run.qualify || experiment.verbose);
  if (launch && launch->rank > 0) return session::follow(*launch, cells, experiment.run, watcher);

  session::Session measuring(experiment, cells, launch, watcher);
  if (!measuring.ready()) return measuring.exit_code(1);
  measuring.check(plan);
  measuring.open_ledger(plan, /*resume=*/false);
  text::LiveRun live({.limits = experiment.run.limits,
                      .repetitions = command.repetitions,
                      .quiet = experiment.quiet,
                      .verbose = experiment.verbose,
                      .prints_json = command.json,
                      .measures_the_ceiling = command.measures_the_ceiling,
                      .ledger = measuring.ledger() ? measuring.ledger()->path().string() : ""},
                     [&](const run::CellResult& result) {
                       if (!command.record_steps.empty())
                         device::write_step_trace(command.record_steps, trace_of(result));
                     });
  const session::SweepOutcome outcome =
      session::run_sweep(measuring, plan, live.hooks(), /*stop_at_failure=*/true);
  live.conclude();
  live.refuse_a_failed_ceiling();
  if (outcome.interrupted) std::fprintf(stderr, "feedrate: interrupted\n");
  const bool all_well = outcome.ok == plan.size() && !live.lacks_its_trace();
  return measuring.exit_code(all_well ? 0 : 1);
}

// The same with pictures that are made for it.
int run_small(CLI::App& app, RunCommand& command) {
  const session::HeldSignals held;  // the pictures are removed, whenever a signal comes
  std::optional<SmallDataset> dataset;
  {
    const session::SignalWatcher signals;
    try {
      dataset.emplace(command.experiment.quiet, signals.token());
    } catch (const Error&) {
      if (!signals.token().stop_requested()) throw;
    }
    if (signals.token().stop_requested()) {
      std::fprintf(stderr, "feedrate: interrupted\n");
      return signals.exit_code(1);
    }
  }
  command.experiment.data = dataset->folder();
  command.experiment.axes["data"] = {"jpeg"};
  command.experiment.axes["image-size"] = {"mixed"};
  return run(app, command);
}

}  // namespace

CommandEntry add_run(CLI::App& program) {
  const auto command = std::make_shared<RunCommand>();
  CLI::App* app =
      program.add_subcommand("run", "Measure one cell, live, in pairs with its synthetic ceiling");
  add_experiment_options(*app, command->experiment, "Axes (one value each)");
  app->add_option("-o,--output", command->experiment.output,
                  "also keep the records, in a new ledger in this folder")
      ->type_name("DIR");
  app->add_flag("--no-ceiling", command->no_ceiling, "do not measure the synthetic ceiling");
  app->add_option("--record-steps", command->record_steps,
                  "write how long each step took, for --device emulated:trace=FILE elsewhere "
                  "(--data synthetic)")
      ->type_name("FILE");
  app->add_option(
         "--trace", command->experiment.trace,
         "write what every batch went through, for Perfetto and chrome://tracing; the ceiling "
         "then has a run of its own; of several ranks that are processes, NAME.rankN.json each")
      ->type_name("FILE");
  app->add_flag("--trace-operators", command->experiment.run.trace_operators,
                "the trace ends with 5 steps more, behind the window, with every operator and "
                "kernel that LibTorch runs (cpu, cuda)");
  add_qualify_option(*app, command->experiment.run.qualify);
  app->add_option("--repetitions", command->repetitions,
                  "measure the ceiling and the cell so many times; three give an interval")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_flag("--json", command->json, "print each record as one line of JSON");
  add_talk_options(*app, command->experiment.quiet, command->experiment.verbose,
                   "print every figure, stage and warning of the runs");
  return {app, [=] {
            // Ranks that another program has started would each make pictures of their own.
            const bool is_alone =
                names_nothing(*command) && !session::find_launch(command->experiment);
            return is_alone ? run_small(*app, *command) : run(*app, *command);
          }};
}

}  // namespace feedrate::cli
