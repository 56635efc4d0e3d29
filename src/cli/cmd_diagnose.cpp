#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/commands.h"
#include "cli/diagnosing.h"
#include "cli/diagnosis_text.h"
#include "cli/measuring.h"
#include "cli/options.h"
#include "cli/plant_option.h"
#include "cli/quantity.h"
#include "cli/result_text.h"
#include "measure/clock.h"
#include "record/diagnosis_json.h"

namespace feedrate::cli {
namespace {

constexpr double kBudget = 120;  // s

struct DiagnoseCommand {
  ExperimentOptions experiment;
  std::optional<double> budget_s;
  std::vector<std::string> plants;
  bool resume = false;
  bool json = false;
};

// Many short runs tell more than one long one. A rung of the first round has a share of the budget:
// half of it for some 9 rungs of 3 rounds or more.
void set_default_limits(const CLI::App& app, double budget_s, run::RunLimits& limits) {
  const double each = std::clamp(budget_s / 2 / 9 / 3, 0.4, 5.0);
  const auto unless_typed = [&](const char* option, double& limit, double value) {
    if (app.count(option) == 0) limit = value;
  };
  unless_typed("--warmup-seconds", limits.warmup_seconds, 0.15 * each);
  unless_typed("--max-warmup-seconds", limits.max_warmup_seconds, 0.35 * each);
  unless_typed("--min-seconds", limits.min_seconds, 0.5 * each);
  unless_typed("--max-seconds", limits.max_seconds, 0.75 * each);
  if (app.count("--min-steps") == 0) limits.min_steps = 4;
}

class Rounds {
 public:
  Rounds(DiagnoseCommand& command, const plan::Cell& cell)
      : command_(command),
        budget_s_(command.budget_s.value_or(kBudget)),
        cell_(cell),
        began_ns_(measure::now_ns()) {}

  int diagnose(Measuring& measuring) {
    const ExperimentOptions& experiment = command_.experiment;
    Diagnosing diagnosing(measuring, cell_, ladder_of(cell_), experiment.run.seed);
    evidence_.settings = diagnosing.settings();
    evidence_.serial_copies = diagnosing.settings().device_kind == "cpu";
    std::optional<DiagnosisPlan> plan;
    bool interrupted = false;
    for (int round = 0; !plan || round < plan->rounds; ++round) {
      const std::string title =
          plan ? format("round %d of %d", round + 1, plan->rounds) : std::string("round 1");
      const double before_s = seconds();
      interrupted = !diagnosing.measure_ladder(round, title);
      if (interrupted) break;
      const double ladder_s = seconds() - before_s;
      if (!plan) {
        plan = plan_of(budget_s_ - before_s, ladder_s, diagnosing.step_s(),
                       probes_of(evidence_.settings).size());
      }
      interrupted = !diagnosing.measure_blocks(*plan, title);
      if (interrupted) break;
      evidence_.rounds.push_back(diagnosing.round());
      evidence_.servers = diagnosing.servers();
      if (seconds() + ladder_s > budget_s_) break;  // rounds took longer than planned
    }
    if (evidence_.rounds.empty() || interrupted) {
      std::fprintf(stderr, "feedrate: interrupted\n");
      return measuring.exit_code(1);
    }
    return answer(diagnosing);
  }

 private:
  double seconds() const { return measure::seconds(measure::now_ns() - began_ns_); }

  int answer(const Diagnosing& diagnosing) {
    const diagnose::Diagnosis diagnosis = diagnose::diagnosis_of(evidence_);
    const nlohmann::ordered_json json = record::diagnosis_json(
        {cell_, diagnosing.device(), seconds(), diagnosing.left_out()}, evidence_, diagnosis);
    if (!command_.experiment.output.empty())
      write_whole_file(command_.experiment.output / "diagnosis.json", json.dump(2) + "\n",
                       /*durable=*/true);
    if (command_.json) {
      std::printf("%s\n", json.dump().c_str());
      return 0;
    }
    std::printf("%s on %s\n", cell_.label().c_str(), diagnosing.device().c_str());
    std::fputs(diagnosis_text(evidence_, diagnosis, diagnosing.left_out()).c_str(), stdout);
    std::printf("\n%zu round%s in %s: what they show holds for this machine, these options and this "
                "hour.\n",
                evidence_.rounds.size(), evidence_.rounds.size() == 1 ? "" : "s",
                duration(seconds()).c_str());
    return 0;
  }

  DiagnoseCommand& command_;
  const double budget_s_;
  const plan::Cell cell_;
  const std::int64_t began_ns_;
  diagnose::Evidence evidence_;
};

int diagnose(CLI::App& app, DiagnoseCommand& command) {
  ExperimentOptions& experiment = command.experiment;
  if (experiment.axes["data"].empty() && experiment.config.empty())
    experiment.axes["data"] = {"jpeg"};
  const std::vector<plan::Cell> cells = cells_of(app, experiment);
  if (cells.size() != 1) {
    throw UsageError("feedrate diagnose",
                     "looks at one cell, these options make " + std::to_string(cells.size()),
                     "give one value for each axis");
  }
  const plan::Cell& cell = cells.front();
  if (cell.is("data", "synthetic") || !cell.is("cache", "none")) {
    throw UsageError("feedrate diagnose", "looks at a cell that reads stored data at each step",
                     "use --cache none and stored --data");
  }
  const double budget_s = command.budget_s.value_or(kBudget);
  set_default_limits(app, budget_s, experiment.run.limits);
  plant(command.plants, experiment.run);
  Measuring measuring(experiment, cells, std::nullopt);
  if (!measuring.ready()) return measuring.exit_code(1);
  measuring.check({{cell, plan::Role::cell, 0}});
  measuring.open_ledger({}, command.resume, /*force=*/false);
  std::fprintf(stderr, "diagnosing %s: about %s (--budget)\n", cell.label().c_str(),
               duration(budget_s).c_str());
  return Rounds(command, cell).diagnose(measuring);
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
  app->add_flag("--resume", command->resume, "go on with a diagnosis that was interrupted");
  app->add_flag("--json", command->json, "print the diagnosis as one line of JSON");
  add_plant_option(*app, command->plants);
  return {app, [=] { return diagnose(*app, *command); }};
}

}  // namespace feedrate::cli
