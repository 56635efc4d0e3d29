#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/limit_options.h"
#include "cli/options.h"
#include "cli/plant_option.h"
#include "cli/quantity.h"
#include "ledger/rounds_file.h"
#include "session/decoder_comparison.h"
#include "session/diagnosis_session.h"
#include "session/ranks.h"
#include "session/session.h"
#include "text/diagnosis_text.h"
#include "text/live_watcher.h"

namespace feedrate::cli {
namespace {

constexpr double kBudget = 120;  // s
// Shorter budgets leave out what a library's decoder would give, which takes some seconds more.
constexpr double kBudgetOfComparison = 60;  // s
// Samples that a rung's cache keeps: each run fills it anew.
constexpr std::size_t kMostCached = 512;

struct DiagnoseCommand {
  session::ExperimentOptions experiment;
  std::optional<double> budget_s;
  std::vector<std::string> plants;
  std::filesystem::path from;
  bool resume = false, is_tried = false, json = false;
};

plan::Cell cell_to_diagnose(CLI::App& app, session::ExperimentOptions& experiment) {
  if (own_folder_axes(experiment).empty()) set_defaults(experiment, {{"data", "jpeg"}});
  const plan::Cell cell = only_cell_of(app, experiment, "looks at one cell");
  if (cell.is("data", "synthetic") || !cell.is("cache", "none")) {
    throw UsageError("feedrate diagnose", "looks at a cell that reads stored data at each step",
                     "use --cache none and stored --data");
  }
  return cell;
}

// What --resume goes on with. Whoever names no cell expects that of the folder: it must hold one.
std::optional<ledger::Rounds> begun(const std::filesystem::path& folder, bool names_cell) {
  auto rounds = ledger::read_rounds(folder);
  if (!rounds && !names_cell)
    throw UsageError(folder.string(), "holds no diagnosis that could go on",
                     "give the folder of one, or name the cell as well, and --resume");
  return rounds;
}

// A ledger that is there is looked at as it is: nothing is measured, and nothing written.
void refuse_measuring(const CLI::App& app) {
  for (const std::string& name : option_names(app)) {
    if (app.count("--" + name) == 0 || name == "from" || name == "where" || name == "json")
      continue;
    throw is_axis(name)
        ? UsageError("--" + name, "says how to measure, and --from measures nothing",
                     "choose the ledger's cell: --where " + name + "=VALUE")
        : UsageError("--" + name, "is about measuring, and --from measures nothing",
                     "leave it out");
  }
}

// Of a diagnosis that was interrupted and keeps nothing. stdout is for one line of JSON alone, if
// that is asked for.
void print_first_round(const session::DiagnosisSession& diagnosis, bool is_for_json) {
  if (const auto measured = diagnosis.first_round_so_far())
    std::fputs(text::first_round_text(*measured).c_str(), is_for_json ? stderr : stdout);
}

int diagnose(CLI::App& app, DiagnoseCommand& command) {
  session::ExperimentOptions& experiment = command.experiment;
  const auto print = [&](const session::DiagnosisAnswer& answer) {
    text::print_diagnosis(command.json, answer);
  };
  if (!command.from.empty()) {
    refuse_measuring(app);
    print(session::diagnosis_from(command.from, experiment.where));
    return 0;
  }
  session::refuse_launchers("feedrate diagnose", "starts its ranks itself");
  const bool is_named = names_cells(experiment);  // before defaults name it
  const plan::Cell cell = cell_to_diagnose(app, experiment);
  if (command.resume && experiment.output.empty())
    throw UsageError("--resume", "needs the folder that holds the diagnosis", "give it: -o DIR");
  double budget_s = command.budget_s.value_or(kBudget);
  // Runs of one diagnosis are alike: their limits follow from the budget that it began with.
  if (command.resume)
    if (const auto rounds = begun(experiment.output, is_named)) budget_s = rounds->head.budget_s;
  set_diagnosis_limits(app, budget_s, experiment.run.limits);
  experiment.run.most_cached = kMostCached;
  plant(command.plants, experiment.run);
  text::LiveWatcher watcher(experiment.verbose);
  session::Session session(experiment, {cell}, std::nullopt, watcher);
  session.check({{cell, plan::Role::cell, 0}});
  session::DiagnosisSession diagnosis({.budget_s = budget_s,
                                       .planted = listed(command.plants),
                                       .resume = command.resume,
                                       .is_tried = command.is_tried},
                                      session, cell, print);
  const int code = diagnosis.run();
  if (experiment.output.empty()) print_first_round(diagnosis, command.json);
  const bool compares =
      code == 0 && !command.json && command.plants.empty() && !session.is_stopped();
  if (!compares || budget_s < kBudgetOfComparison) return code;
  if (const auto rates = session::compare_decoders(session, cell))
    text::print_decoder_rates(cell, *rates);
  return session.exit_code(code);  // Ctrl-C may have ended the comparison
}

}  // namespace

CommandEntry add_diagnose(CLI::App& program) {
  const auto command = std::make_shared<DiagnoseCommand>();
  CLI::App* app = program.add_subcommand(
      "diagnose", "What limits one cell, how sure that is, and what would help");
  add_experiment_options(*app, command->experiment, "Axes (one value each)",
                         {{"data", kJpegUnlessOwn}});
  add_output_option(*app, command->experiment.output,
                    "keep the records and the diagnosis, in a new ledger in this folder");
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
