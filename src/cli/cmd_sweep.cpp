#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/result_text.h"
#include "cli/signals.h"
#include "diagnose/verdict.h"
#include "experiment/anonymize.h"
#include "experiment/environment.h"
#include "experiment/plan_file.h"
#include "experiment/resume.h"
#include "experiment/sweep.h"
#include "measure/clock.h"
#include "measure/error.h"

namespace feedrate {
namespace {

struct SweepCommand {
  ExperimentOptions experiment;
  bool json = false;
  bool dry_run = false;
  bool resume = false, force_resume = false;
};

// A process for each run and what it opens; the cell's own preparations (caches, warming) come on top.
constexpr double kStartSeconds = 0.5;

std::string duration(double s) {
  char text[48];
  if (s < 90) std::snprintf(text, sizeof text, "%.0f s", s);
  else if (s < 5400) std::snprintf(text, sizeof text, "%.0f min", s / 60);
  else std::snprintf(text, sizeof text, "%.1f h", s / 3600);
  return text;
}

// "24 runs (10 cells, 2 ceilings, 2 repetitions), at least 3 min"
std::string summary_of(const std::vector<PlannedRun>& plan, const RunLimits& limits) {
  std::set<std::string> cells, ceilings;
  int repetitions = 0;
  for (const PlannedRun& run : plan) {
    (run.role == "cell" ? cells : ceilings).insert(run.cell.id());
    repetitions = std::max(repetitions, run.repetition + 1);
  }
  const auto counted = [](std::size_t n, const char* thing) { return std::to_string(n) + " " + thing + (n == 1 ? "" : "s"); };
  const double each = limits.warmup_seconds + limits.min_seconds + kStartSeconds;
  return counted(plan.size(), "run") + " (" + counted(cells.size(), "cell") + ", " + counted(ceilings.size(), "ceiling") + ", " +
         counted(static_cast<std::size_t>(repetitions), "repetition") + "), at least " + duration(each * static_cast<double>(plan.size()));
}

void print_plan(const std::vector<PlannedRun>& plan, const RunLimits& limits) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    std::printf("%3zu  repetition %d  %-8s %s\n", i + 1, plan[i].repetition, plan[i].role.c_str(), plan[i].cell.label().c_str());
  }
  std::printf("%s\n", summary_of(plan, limits).c_str());
}

// What a person sees of a sweep: stderr for the log and the live line, stdout for records (--json).
class SweepLog {
 public:
  SweepLog(bool json, const ExperimentOptions& options)
      : json_(json), limits_(options.run.limits) {
    if (options.anonymize) anonymizer_.emplace(options.data, options.output, options.config);
  }

  SweepHooks hooks() {
    return {.started = [this](const PlannedRun& run, std::size_t number, std::size_t total,
                              std::optional<double> ceiling) { start(run, number, total, ceiling); },
            .progress = [this](const RunProgress& p) { line_.show(title_ + ": " + describe(p, ceiling_) + eta()); },
            .derive = [this](nlohmann::ordered_json& record) { derive(record); },
            .finished = [this](const nlohmann::ordered_json& record) { finish(record); }};
  }

 private:
  void derive(nlohmann::ordered_json& record) const {
    add_verdict(record);
    if (anonymizer_) anonymizer_->apply(record);
  }
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
  std::optional<Anonymizer> anonymizer_;
  ProgressLine line_;
  std::string title_;
  std::optional<double> ceiling_;  // of the run in progress
  std::size_t left_ = 0, done_ = 0;
  std::int64_t start_ns_ = now_ns();
};

// As it will stand in the records, which --resume compares.
nlohmann::ordered_json environment_of(const ExperimentOptions& experiment) {
  nlohmann::ordered_json record = {{"environment", capture_environment(experiment.data, experiment.config)}};
  if (experiment.anonymize) Anonymizer(experiment.data, experiment.output, experiment.config).apply(record);
  return record["environment"];
}

std::set<std::string> ids_of(const std::vector<PlannedRun>& plan) {
  std::set<std::string> ids;
  for (const PlannedRun& run : plan) ids.insert(run.cell.id());
  return ids;
}

// What a --resume would measure; the ledger stays untouched.
std::vector<PlannedRun> still_missing(const std::vector<PlannedRun>& plan, const ExperimentOptions& experiment) {
  const std::filesystem::path file = experiment.output / "ledger.jsonl";
  return std::filesystem::exists(file) ? missing_of(plan, read_ledger(file).records) : plan;
}

int sweep(CLI::App& app, SweepCommand& command) {
  ExperimentOptions& experiment = command.experiment;
  const auto launch = find_launch(experiment);
  const std::vector<Cell> cells = cells_of(app, experiment);
  if (launch && launch->rank > 0) return command.dry_run ? 0 : follow(*launch, cells, experiment.run);
  const auto plan = plan_sweep(cells, experiment.repetitions, experiment.run.seed);
  const SignalWatcher signals;
  const auto ranks = open_ranks(command.dry_run ? std::nullopt : launch, cells, experiment.run, signals.token());
  if (!ranks) return signals.exit_code(1);
  AcceleratorRegistry registry;
  CellRunner runner(experiment.run, registry, ranks.get());
  for (const PlannedRun& run : plan) runner.check(run.cell);
  const bool resume = command.resume || command.force_resume;
  if (command.dry_run) {
    print_plan(resume ? still_missing(plan, experiment) : plan, experiment.run.limits);
    return 0;
  }
  if (experiment.output.empty()) throw UsageError("--output", "is needed", "give a folder for the ledger: -o results/NAME");
  Ledger ledger(experiment.output, resume);
  const auto environment = environment_of(experiment);
  const auto differing = differences(ledger, runner, environment, experiment.run, ids_of(plan), command.force_resume);
  if (ledger.mend()) std::fprintf(stderr, "feedrate: %s: cut off a torn last record\n", ledger.path().c_str());
  keep_plan(experiment.output, plan, ledger.records().size());
  std::fprintf(stderr, "%s\n", summary_of(missing_of(plan, ledger.records()), experiment.run.limits).c_str());
  SweepLog log(command.json, experiment);
  const SweepOutcome outcome = run_sweep(plan, runner, experiment.run, ledger, environment,
                                         log.hooks(), signals.token(), differing);
  keep_end(experiment.output, {ledger.size(), ledger.last_xxh3()});
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
  app->add_flag("--force-resume", command->force_resume, "the same, even where program, machine, storage, limits, seed or data differ from the ledger's; flags what it adds");
  app->add_flag("--dry-run", command->dry_run, "print the plan and end");
  app->add_flag("--json", command->json, "print every record as a line of JSON as well");
  return {app, [=] { return sweep(*app, *command); }};
}

}  // namespace feedrate
