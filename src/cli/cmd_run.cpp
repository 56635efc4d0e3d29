#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/small_dataset.h"
#include "session/decoder_comparison.h"
#include "session/ranks.h"
#include "session/session.h"
#include "session/step_files.h"
#include "text/decoder_text.h"
#include "text/live_run.h"
#include "text/live_watcher.h"
#include "text/result_text.h"

namespace feedrate::cli {
namespace {

struct RunCommand {
  session::ExperimentOptions experiment;
  int repetitions = 1;
  bool json = false;
  bool no_ceiling = false;
  std::filesystem::path record_steps;
};

// `feedrate run` and nothing that says what to measure.
bool names_nothing(const RunCommand& command) {
  const session::ExperimentOptions& typed = command.experiment;
  return !names_cells(typed) && typed.data.empty() && typed.trace.empty() &&
         command.record_steps.empty();
}

// What a library's decoder would give is measured beside runs for a person, of usual length.
bool compares_decoders(const RunCommand& command, bool has_launcher) {
  const session::ExperimentOptions& typed = command.experiment;
  return !command.no_ceiling && !has_launcher && !typed.quiet && typed.trace.empty() &&
         command.record_steps.empty() && !typed.run.plant &&
         typed.run.limits.min_seconds >= session::kComparedSeconds;
}

void say_decoders(session::Session& session, const plan::Cell& cell, bool are_compared) {
  std::optional<session::DecoderRates> rates;
  if (are_compared) rates = session::compare_decoders(session, cell);
  std::fputs(text::decoder_lines(cell, rates).c_str(), stdout);
}

int run(CLI::App& app, RunCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const auto launch = session::find_launch(experiment);
  const plan::Cell cell = only_cell_of(app, experiment, "measures one cell",
                                       "give one value for each axis, or use `feedrate sweep`");
  session::check_recording(cell, command.record_steps);
  session::settle_trace(cell, experiment);
  // A trace shows the way of one cell's batches, without its ceiling's between them.
  const bool in_pairs = experiment.trace.empty();
  const auto plan = plan::plan_run(cell, !command.no_ceiling, in_pairs, command.repetitions);
  text::LiveWatcher watcher(experiment.run.qualify || experiment.verbose);
  if (launch && launch->rank > 0) return session::follow(*launch, {cell}, experiment.run, watcher);

  session::Session session(experiment, {cell}, launch, watcher);
  if (!session.ready()) return session.exit_code(1);
  session.check(plan);
  session.open_ledger(plan, /*resume=*/false);
  text::LiveRun live(
      session,
      {.repetitions = command.repetitions,
       .prints_json = command.json,
       .measures_the_ceiling = cell.is("data", "synthetic")},
      [&](const run::CellResult& result) { session::record_steps(command.record_steps, result); });
  const session::SweepOutcome outcome =
      session::run_sweep(session, plan, live.hooks(), /*stop_at_failure=*/true);
  live.conclude();
  live.refuse_a_failed_ceiling();
  if (outcome.interrupted) watcher.warns("interrupted");
  const bool all_well = outcome.ok == plan.size() && !live.lacks_its_trace();
  if (all_well && !command.json)
    say_decoders(session, cell, compares_decoders(command, launch.has_value()));
  return session.exit_code(all_well ? 0 : 1);
}

int run_small(CLI::App& app, RunCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  return with_small_dataset(experiment.quiet, [&](const std::filesystem::path& folder) {
    experiment.data = folder;
    experiment.axes["data"] = {"jpeg"};
    experiment.axes["image-size"] = {"mixed"};
    const int code = run(app, command);
    if (code == 0 && !command.json)
      std::fputs(text::line_of("next",
                               "these pictures are gone; of others like them: "
                               "feedrate gen data/ --like imagenet --format jpeg && "
                               "feedrate diagnose --dataset data/")
                     .c_str(),
                 stdout);
    return code;
  });
}

}  // namespace

CommandEntry add_run(CLI::App& program) {
  const auto command = std::make_shared<RunCommand>();
  CLI::App* app =
      program.add_subcommand("run", "Measure one cell, live, in pairs with its synthetic ceiling");
  add_experiment_options(*app, command->experiment, "Axes (one value each)",
                         {{"data", kSyntheticUnlessOwn}});
  add_output_option(*app, command->experiment.output,
                    "also keep the records, in a new ledger in this folder");
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
  add_repetitions(*app, command->repetitions,
                  "measure the ceiling and the cell so many times; three give an interval");
  app->add_flag("--json", command->json, "print each record as one line of JSON");
  add_verbosity_options(*app, command->experiment,
                        "print every figure, stage and warning of the runs");
  return {app, [=] {
            // Ranks that another program has started would each make pictures of their own.
            const bool is_alone =
                names_nothing(*command) && !session::find_launch(command->experiment);
            return is_alone ? run_small(*app, *command) : run(*app, *command);
          }};
}

}  // namespace feedrate::cli
