#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/result_text.h"
#include "cli/signals.h"
#include "diagnose/verdict.h"
#include "experiment/environment.h"
#include "experiment/sweep.h"
#include "measure/clock.h"
#include "measure/error.h"

namespace feedrate {
namespace {

struct SweepCommand {
  ExperimentOptions experiment;
  bool json = false;
  bool dry_run = false;
  bool resume = false;
};

void print_plan(const std::vector<PlannedRun>& plan, const RunLimits& limits) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    std::printf("%3zu  repetition %d  %-8s %s\n", i + 1, plan[i].repetition, plan[i].role.c_str(), plan[i].cell.label().c_str());
  }
  std::printf("%zu runs, at least %.0f s\n", plan.size(),
              static_cast<double>(plan.size()) * (limits.warmup_seconds + limits.min_seconds));
}

// What a person sees of a sweep: stderr for the log and the live line, stdout for records (--json).
class SweepLog {
 public:
  SweepLog(bool json, const RunLimits& limits) : json_(json), limits_(limits) {}

  SweepHooks hooks() {
    return {.started = [this](const PlannedRun& run, std::size_t number, std::size_t total,
                              std::optional<double> ceiling) { start(run, number, total, ceiling); },
            .progress = [this](const RunProgress& p) { line_.show(title_ + ": " + describe(p, ceiling_) + eta()); },
            .derive = [](nlohmann::ordered_json& record) { add_verdict(record); },
            .finished = [this](const nlohmann::ordered_json& record) { finish(record); }};
  }

 private:
  void start(const PlannedRun& run, std::size_t number, std::size_t total, std::optional<double> ceiling) {
    ceiling_ = ceiling;
    title_ = "[" + std::to_string(number) + "/" + std::to_string(total) + "] " + run.cell.label();
    left_ = total - number + 1;
    line_.show(title_ + ": preparing");
  }
  void finish(const nlohmann::ordered_json& record) {
    line_.clear();
    std::fprintf(stderr, "%s\n", result_line(record, title_).c_str());
    if (json_) {
      std::printf("%s\n", to_line(record).c_str());
      std::fflush(stdout);
    }
    ++done_;
  }
  std::string eta() const {
    const double each = done_ > 0 ? seconds(now_ns() - start_ns_) / static_cast<double>(done_)
                                  : limits_.warmup_seconds + limits_.min_seconds;
    return " · sweep " + thousands(each * static_cast<double>(left_)) + " s left";
  }

  bool json_;
  RunLimits limits_;
  ProgressLine line_;
  std::string title_;
  std::optional<double> ceiling_;  // of the run in progress
  std::size_t left_ = 0, done_ = 0;
  std::int64_t start_ns_ = now_ns();
};

int sweep(CLI::App& app, SweepCommand& command) {
  ExperimentOptions& experiment = command.experiment;
  const std::vector<Cell> cells = cells_of(app, experiment);
  const auto plan = plan_sweep(cells, experiment.repetitions, experiment.run.seed);
  AcceleratorRegistry registry;
  CellRunner runner(experiment.run, registry);
  for (const PlannedRun& run : plan) runner.check(run.cell);
  if (command.dry_run) {
    print_plan(plan, experiment.run.limits);
    return 0;
  }
  if (experiment.output.empty()) throw UsageError("--output", "is needed", "give a folder for the ledger: -o results/NAME");
  Ledger ledger(experiment.output, command.resume);
  if (ledger.was_torn()) std::fprintf(stderr, "feedrate: %s: cut off a torn last record\n", ledger.path().c_str());
  const SignalWatcher signals;
  SweepLog log(command.json, experiment.run.limits);
  const SweepOutcome outcome = run_sweep(plan, runner, experiment.run, ledger, capture_environment(experiment.data),
                                         log.hooks(), signals.token());
  std::fprintf(stderr, "%zu measured, %zu failed, %zu already there: %s\n", outcome.ok, outcome.failed, outcome.skipped,
               ledger.path().c_str());
  if (outcome.interrupted) std::fprintf(stderr, "feedrate: interrupted; go on with --resume\n");
  return signals.exit_code(outcome.failed == 0 ? 0 : 1);
}

}  // namespace

CommandEntry add_sweep(CLI::App& program) {
  const auto command = std::make_shared<SweepCommand>();
  CLI::App* app = program.add_subcommand("sweep", "Measure a product of axes, ceiling first and last, into a ledger");
  add_experiment_options(*app, command->experiment);
  app->add_option("-o,--output", command->experiment.output, "folder of the ledger")->type_name("DIR");
  app->add_option("--repetitions", command->experiment.repetitions, "of every cell, interleaved; 6 or more to publish")
      ->capture_default_str()->check(CLI::Range(1, 1000));
  app->add_flag("--resume", command->resume, "add what is missing to a ledger that already holds records");
  app->add_flag("--dry-run", command->dry_run, "print the plan and end");
  app->add_flag("--json", command->json, "print every record as a line of JSON as well");
  return {app, [=] { return sweep(*app, *command); }};
}

}  // namespace feedrate
