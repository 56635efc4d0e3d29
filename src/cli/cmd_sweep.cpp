#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/resume_command.h"
#include "ledger/resume.h"
#include "ledger/rounds_file.h"
#include "plan/sweep_order.h"
#include "session/precise_sweep.h"
#include "session/ranks.h"
#include "session/session.h"
#include "text/live_watcher.h"
#include "text/sweep_log.h"

namespace feedrate::cli {
namespace {

struct SweepCommand {
  session::ExperimentOptions experiment;
  int repetitions = 0;  // 0: not said
  session::PrecisionOptions precision;
  bool json = false, dry_run = false;
  bool resume = false, force_resume = false;
  bool resumes() const { return resume || force_resume; }
};

void add_precision_options(CLI::App& app, session::PrecisionOptions& options) {
  add_quantity(app, "--target-ci", options.target, {{"%", 0.01}}, 1, "must be as 2%: 100% at most",
               "repeat cells until the 95 % interval of each share of the ceiling is within ±X %, "
               "after --repetitions of all (then 6 by default)")
      ->type_name("X%");
  add_duration(app, "--budget", options.budget_s,
               "after --repetitions of all, start no repetition that would end later; the widest "
               "intervals come first");
}

// With --resume, the runs that the ledger lacks; it stays untouched.
std::vector<plan::PlannedRun> planned(std::vector<plan::PlannedRun> plan,
                                      const SweepCommand& command) {
  const std::filesystem::path file = command.experiment.output / "ledger.jsonl";
  if (!command.resumes() || !std::filesystem::exists(file)) return plan;
  return ledger::missing_of(std::move(plan), ledger::read_ledger(file).records);
}

void check_output(const SweepCommand& command) {
  const std::filesystem::path& output = command.experiment.output;
  if (output.empty())
    throw UsageError("--output", "is needed", "give a folder for the ledger: -o results/NAME");
  if (command.resumes() && std::filesystem::exists(output / ledger::kRoundsFile))
    throw Error(output.string(), "holds a diagnosis, which `feedrate diagnose` goes on with",
                "choose another folder: -o DIR");
}

// `sweep -o DIR --resume` alone goes on as what the folder's sweep was. Returns where that had no
// other options either.
void go_on(const CLI::App& app, const SweepCommand& command, bool is_launched) {
  check_output(command);
  const ledger::Arguments words = command_to_go_on(app, command.experiment.output);
  if (words.empty()) return;
  if (is_launched)
    throw UsageError("--resume", "no cells are named, and each rank must know them",
                     "under a launcher, type the sweep's own options");
  if (!command.experiment.quiet)
    std::fprintf(stderr, "feedrate: going on: %s\n", ledger::shell_line(words).c_str());
  become(words);
}

int sweep(CLI::App& app, SweepCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const run::RunOptions& run = experiment.run;
  const bool is_named = names_cells(experiment);  // before a launcher's ranks name --gpus
  const auto launch = session::find_launch(experiment);
  if (command.resumes() && !is_named) go_on(app, command, launch.has_value());
  const std::vector<plan::Cell> cells = cells_of(app, experiment);
  const bool is_precise = command.precision.is_asked();
  if (command.repetitions == 0) command.repetitions = is_precise ? plan::Precision{}.pilot : 1;
  const auto plan = plan::plan_sweep(cells, command.repetitions, run.seed);
  // Of a sweep that goes on nobody knows yet how many runs are missing.
  if (is_precise)
    session::check_precision(command.precision, command.repetitions,
                             command.resumes() ? 0 : plan.size(), run.limits);
  text::LiveWatcher watcher(run.qualify || experiment.verbose);
  if (launch && launch->rank > 0)
    return command.dry_run ? 0 : session::follow(*launch, cells, run, watcher);
  session::Session session(experiment, cells, command.dry_run ? std::nullopt : launch, watcher);
  if (!session.ready()) return session.exit_code(1);
  const std::size_t unreadable = session.check_but_go_on(plan);
  if (command.dry_run) {
    text::print_plan(planned(plan, command), cells, run.limits, command.precision);
    return unreadable == 0 ? 0 : 1;
  }
  check_output(command);
  session.open_ledger(plan, command.resumes(), command.force_resume);
  if (is_precise) session::check_pilot(*session.ledger(), command.repetitions);
  text::SweepLog log(session, command.precision, command.json);
  log.begin(plan, cells);
  const session::SweepOutcome outcome =
      is_precise ? session::sweep_to_precision(session, cells, command.precision,
                                               command.repetitions, log.hooks())
                 : session::run_sweep(session, plan, log.hooks(), /*stop_at_failure=*/false);
  log.end(outcome);
  return session.exit_code(outcome.failed == 0 ? 0 : 1);
}

}  // namespace

CommandEntry add_sweep(CLI::App& program) {
  const auto command = std::make_shared<SweepCommand>();
  CLI::App* app = program.add_subcommand(
      "sweep", "Measure a product of axes, each cell in pairs with its ceiling, into a ledger");
  add_experiment_options(*app, command->experiment,
                         "Axes (several values, comma-separated, make a sweep)",
                         {{"data", kSyntheticUnlessOwn}});
  add_qualify_option(*app, command->experiment.run.qualify);
  add_output_option(*app, command->experiment.output, "folder of the ledger");
  add_repetitions(*app, command->repetitions,
                  "repetitions of every cell, interleaved; 6 or more to publish")
      ->default_str("1");
  add_precision_options(*app, command->precision);
  app->add_flag(
      "--resume", command->resume,
      "add what is missing to a ledger that already holds records; with -o alone, as its sweep "
      "was");
  app->add_flag("--force-resume", command->force_resume,
                "like --resume, even where program, machine, storage, limits, seed or data differ "
                "from the ledger's; flags what it adds");
  app->add_flag("--dry-run", command->dry_run, "print the plan and end");
  app->add_flag("--json", command->json, "print every record as a line of JSON as well");
  add_verbosity_options(*app, command->experiment,
                        "log every figure, stage and warning of each run");
  return {app, [=] { return sweep(*app, *command); }};
}

}  // namespace feedrate::cli
