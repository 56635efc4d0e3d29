#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "ledger/resume.h"
#include "ledger/rounds_file.h"
#include "plan/sweep_order.h"
#include "session/precise_sweep.h"
#include "session/ranks.h"
#include "session/session.h"
#include "text/live_watcher.h"
#include "text/result_text.h"
#include "text/sweep_log.h"

namespace feedrate::cli {
namespace {

struct SweepCommand {
  session::ExperimentOptions experiment;
  int repetitions = 0;  // 0: not said
  session::PrecisionOptions precision;
  bool json = false, dry_run = false;
  bool resume = false, force_resume = false;
};

// With --resume, prints only the runs that the ledger lacks. The ledger stays untouched.
void print_plan(std::vector<plan::PlannedRun> plan, const SweepCommand& command) {
  const std::filesystem::path file = command.experiment.output / "ledger.jsonl";
  if ((command.resume || command.force_resume) && std::filesystem::exists(file))
    plan = ledger::missing_of(std::move(plan), ledger::read_ledger(file).records);
  std::printf("%s%s\n", text::plan_text(plan).c_str(),
              text::sweep_summary(plan, command.experiment.run.limits, command.precision).c_str());
}

void say_outcome(const session::SweepOutcome& outcome, const ledger::Ledger& ledger) {
  std::fprintf(stderr, "%zu measured, %zu failed, %zu already there: %s\n", outcome.ok,
               outcome.failed, outcome.skipped, ledger.path().c_str());
  if (outcome.interrupted) std::fprintf(stderr, "feedrate: interrupted; go on with --resume\n");
}

void add_precision_options(CLI::App& app, session::PrecisionOptions& options) {
  add_quantity(app, "--target-ci", options.target, {{"%", 0.01}}, 1, "must be as 2%: 100% at most",
               "repeat cells until the 95 % interval of each share of the ceiling is within ±X %, "
               "after --repetitions of all (then 6 by default)")
      ->type_name("X%");
  add_duration(app, "--budget", options.budget_s,
               "after --repetitions of all, start no repetition that would end later; the widest "
               "intervals come first");
}

int sweep(CLI::App& app, SweepCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const auto launch = session::find_launch(experiment);
  const std::vector<plan::Cell> cells = cells_of(app, experiment);
  const bool is_precise = command.precision.is_asked();
  if (command.repetitions == 0) command.repetitions = is_precise ? plan::Precision{}.pilot : 1;
  const auto plan = plan::plan_sweep(cells, command.repetitions, experiment.run.seed);
  const bool resumes = command.resume || command.force_resume;
  // Of a sweep that goes on nobody knows yet how many runs are missing.
  if (is_precise)
    session::check_precision(command.precision, command.repetitions, resumes ? 0 : plan.size(),
                             session::least_seconds(experiment.run.limits));
  text::LiveWatcher watcher(experiment.run.qualify || experiment.verbose);
  if (launch && launch->rank > 0)
    return command.dry_run ? 0 : session::follow(*launch, cells, experiment.run, watcher);

  session::Session measuring(experiment, cells, command.dry_run ? std::nullopt : launch, watcher);
  if (!measuring.ready()) return measuring.exit_code(1);
  const std::size_t unreadable = measuring.check_but_go_on(plan);
  if (command.dry_run) {
    print_plan(plan, command);
    std::fputs(text::not_in_pairs(cells).c_str(), stdout);
    return unreadable == 0 ? 0 : 1;
  }
  if (experiment.output.empty())
    throw UsageError("--output", "is needed", "give a folder for the ledger: -o results/NAME");
  if (resumes && std::filesystem::exists(experiment.output / ledger::kRoundsFile)) {
    throw Error(experiment.output.string(),
                "holds a diagnosis, which `feedrate diagnose` goes on with",
                "choose another folder: -o DIR");
  }
  measuring.open_ledger(plan, resumes, command.force_resume);
  if (is_precise) session::check_pilot(*measuring.ledger(), command.repetitions);

  if (!command.experiment.quiet)
    std::fprintf(
        stderr, "%s\n%s%s",
        text::sweep_summary(measuring.missing(plan), experiment.run.limits, command.precision)
            .c_str(),
        text::not_in_pairs(cells).c_str(), text::emulation_line(cells).c_str());
  text::SweepLog log(experiment, command.json, is_precise);
  const session::SweepOutcome outcome =
      is_precise
          ? session::sweep_to_precision(measuring, cells, command.precision, command.repetitions,
                                        experiment.run.seed,
                                        session::least_seconds(experiment.run.limits), log.hooks())
          : session::run_sweep(measuring, plan, log.hooks(), /*stop_at_failure=*/false);
  const std::string bad = command.experiment.quiet ? "" : log.not_to_be_quoted();
  if (!bad.empty()) std::fprintf(stderr, "%s\n", bad.c_str());
  if (!command.experiment.quiet || outcome.failed > 0 || outcome.interrupted)
    say_outcome(outcome, *measuring.ledger());
  return measuring.exit_code(outcome.failed == 0 ? 0 : 1);
}

}  // namespace

CommandEntry add_sweep(CLI::App& program) {
  const auto command = std::make_shared<SweepCommand>();
  CLI::App* app = program.add_subcommand(
      "sweep", "Measure a product of axes, each cell in pairs with its ceiling, into a ledger");
  add_experiment_options(*app, command->experiment,
                         "Axes (several values, comma-separated, make a sweep)");
  add_qualify_option(*app, command->experiment.run.qualify);
  app->add_option("-o,--output", command->experiment.output, "folder of the ledger")
      ->type_name("DIR");
  app->add_option("--repetitions", command->repetitions,
                  "repetitions of every cell, interleaved; 6 or more to publish")
      ->default_str("1")
      ->check(CLI::Range(1, 1000));
  add_precision_options(*app, command->precision);
  app->add_flag("--resume", command->resume,
                "add what is missing to a ledger that already holds records");
  app->add_flag("--force-resume", command->force_resume,
                "like --resume, even where program, machine, storage, limits, seed or data differ "
                "from the ledger's; flags what it adds");
  app->add_flag("--dry-run", command->dry_run, "print the plan and end");
  app->add_flag("--json", command->json, "print every record as a line of JSON as well");
  add_talk_options(*app, command->experiment.quiet, command->experiment.verbose,
                   "log every figure, stage and warning of each run");
  return {app, [=] { return sweep(*app, *command); }};
}

}  // namespace feedrate::cli
