#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plant_option.h"
#include "cli/quantity.h"
#include "ledger/rounds_file.h"
#include "plan/axes.h"
#include "session/delay_plan.h"
#include "session/diagnosis_session.h"
#include "session/ledger_evidence.h"
#include "session/ranks.h"
#include "session/session.h"
#include "session/trials.h"
#include "text/diagnosis_text.h"
#include "text/live_watcher.h"

namespace feedrate::cli {
namespace {

constexpr double kBudget = 120;  // s
// Samples that a rung's cache keeps: each run fills it anew.
constexpr std::size_t kMostCached = 512;

struct DiagnoseCommand {
  session::ExperimentOptions experiment;
  std::optional<double> budget_s;
  std::vector<std::string> plants;
  std::filesystem::path from;
  bool resume = false, is_tried = false, json = false;
};

void refuse_kind(const std::vector<plan::Cell>& cells) {
  if (cells.size() != 1) {
    throw UsageError("feedrate diagnose",
                     "looks at one cell, these options make " + std::to_string(cells.size()),
                     "give one value for each axis");
  }
  if (cells.front().is("data", "synthetic") || !cells.front().is("cache", "none")) {
    throw UsageError("feedrate diagnose", "looks at a cell that reads stored data at each step",
                     "use --cache none and stored --data");
  }
}

void set_diagnosis_limits(const CLI::App& app, double budget_s, run::RunLimits& limits) {
  const double each = session::ladder_run_s(budget_s);
  const auto unless_typed = [&](const char* option, double& limit, double value) {
    if (app.count(option) == 0) limit = value;
  };
  unless_typed("--warmup-seconds", limits.warmup_seconds, 0.15 * each);
  unless_typed("--max-warmup-seconds", limits.max_warmup_seconds, 0.35 * each);
  unless_typed("--min-seconds", limits.min_seconds, 0.5 * each);
  unless_typed("--max-seconds", limits.max_seconds, 0.75 * each);
  if (app.count("--min-steps") == 0) limits.min_steps = 4;
  // What was typed holds, whatever the budget would have.
  if (app.count("--max-seconds") == 0)
    limits.max_seconds = std::max(limits.max_seconds, 1.5 * limits.min_seconds);
  if (app.count("--max-warmup-seconds") == 0)
    limits.max_warmup_seconds = std::max(limits.max_warmup_seconds, limits.warmup_seconds);
}

// Of a ledger that is there: nothing is measured, and nothing written.
int diagnose_ledger(const CLI::App& app, const DiagnoseCommand& command) {
  for (const char* option :
       {"--try", "--resume", "--output", "--budget", "--dataset", "--config", "--min-seconds",
        "--max-seconds", "--warmup-seconds", "--max-warmup-seconds", "--min-steps",
        "--stall-seconds", "--seed", "--anonymize", "--plant"}) {
    if (app.count(option) == 0) continue;
    throw UsageError(option, "is about measuring, and --from measures nothing", "leave it out");
  }
  for (const plan::Axis& axis : plan::axes()) {
    const std::string option = "--" + std::string(axis.name);
    if (app.count(option) == 0) continue;
    throw UsageError(option, "says how to measure, and --from measures nothing",
                     "choose the ledger's cell: --where " + std::string(axis.name) + "=VALUE");
  }
  session::LedgerEvidence found = session::evidence_from(command.from, command.experiment.where);
  const judge::Diagnosis diagnosis = judge::diagnosis_of(found.evidence);
  found.of.advice =
      session::advice_for(found.of.cell, found.evidence, diagnosis, found.surroundings);
  session::add_tried(found.records, found.of.cell, found.of.advice,
                     static_cast<int>(found.evidence.rounds.size()));
  text::print_diagnosis(command.json, found.of, found.evidence, diagnosis);
  return 0;
}

int diagnose(CLI::App& app, DiagnoseCommand& command) {
  if (!command.from.empty()) return diagnose_ledger(app, command);
  session::ExperimentOptions& experiment = command.experiment;
  session::refuse_launchers("feedrate diagnose", "starts its ranks itself");
  if (experiment.axes["data"].empty() && experiment.config.empty())
    experiment.axes["data"] = {"jpeg"};
  const std::vector<plan::Cell> cells = cells_of(app, experiment);
  refuse_kind(cells);
  if (command.resume && experiment.output.empty())
    throw UsageError("--resume", "needs the folder that holds the diagnosis", "give it: -o DIR");
  double budget_s = command.budget_s.value_or(kBudget);
  // Runs of one diagnosis are alike: their limits follow from the budget that it began with.
  if (command.resume)
    if (const auto begun = ledger::read_rounds(experiment.output)) budget_s = begun->head.budget_s;
  set_diagnosis_limits(app, budget_s, experiment.run.limits);
  experiment.run.most_cached = kMostCached;
  plant(command.plants, experiment.run);
  text::LiveWatcher watcher(experiment.verbose);
  session::Session measuring(experiment, cells, std::nullopt, watcher);
  if (!measuring.ready()) return measuring.exit_code(1);
  measuring.check({{cells.front(), plan::Role::cell, 0}});
  session::DiagnosisSession session(
      {.folder = experiment.output,
       .seed = experiment.run.seed,
       .budget_s = budget_s,
       .planted = listed(command.plants),
       .resume = command.resume,
       .is_tried = command.is_tried},
      measuring, cells.front(), [&](const session::DiagnosisAnswer& answer) {
        text::print_diagnosis(command.json, answer.of, answer.evidence, answer.diagnosis);
      });
  return session.carry_out();
}

}  // namespace

CommandEntry add_diagnose(CLI::App& program) {
  const auto command = std::make_shared<DiagnoseCommand>();
  CLI::App* app = program.add_subcommand(
      "diagnose", "What limits one cell, how sure that is, and what would help");
  add_experiment_options(*app, command->experiment, "Axes (one value each)", {{"data", "jpeg"}});
  app->add_option("-o,--output", command->experiment.output,
                  "keep the records and the diagnosis, in a new ledger in this folder")
      ->type_name("DIR");
  add_duration(*app, "--budget", command->budget_s, "how long it may take, about")
      ->default_str("2m");
  app->add_option("--from", command->from,
                  "measure nothing: say what the ledger in this folder tells of the cell that "
                  "--where leaves")
      ->type_name("DIR");
  app->add_flag("--resume", command->resume, "go on with a diagnosis that was interrupted");
  app->add_flag("--try", command->is_tried,
                "measure what the advice promises as well, beyond the budget");
  app->add_flag("--json", command->json, "print the diagnosis as one line of JSON");
  add_plant_option(*app, command->plants);
  return {app, [=] { return diagnose(*app, *command); }};
}

}  // namespace feedrate::cli
