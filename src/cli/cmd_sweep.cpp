#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "ledger/record_json.h"
#include "ledger/resume.h"
#include "ledger/rounds_file.h"
#include "measure/clock.h"
#include "plan/sweep_order.h"
#include "session/measuring.h"
#include "session/precise_sweep.h"
#include "session/ranks.h"
#include "text/live_watcher.h"
#include "text/progress.h"
#include "text/result_text.h"
#include "text/slow_step.h"
#include "text/sweep_table.h"
#include "text/terminal.h"

namespace feedrate::cli {
namespace {

struct SweepCommand {
  session::ExperimentOptions experiment;
  int repetitions = 0;  // 0: not said
  session::PrecisionOptions precision;
  bool json = false, dry_run = false;
  bool resume = false, force_resume = false;
};

// Of a run. Starting its process, opening its files and preparing the cell add to this.
double least_seconds(const run::RunLimits& limits) {
  return limits.warmup_seconds + limits.min_seconds;
}

std::string counted(std::size_t n, const char* thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

// ", then as many as ±2 % of every share needs, until 30 min are over"
std::string further(const session::PrecisionOptions& precision) {
  if (!precision.is_asked()) return "";
  return ", then as many as " +
         (precision.target ? format("±%.3g %% of every share needs", 100 * *precision.target)
                           : std::string("there is time for")) +
         (precision.budget_s ? ", until " + duration(*precision.budget_s) + " are over" : "");
}

// "24 runs (10 cells, 2 ceilings, 2 repetitions), at least 3 min"
std::string summary_of(const std::vector<plan::PlannedRun>& plan, const SweepCommand& command) {
  const run::RunLimits& limits = command.experiment.run.limits;
  std::set<std::string> cells, ceilings;
  int repetitions = 0;
  for (const plan::PlannedRun& run : plan) {
    (run.role == plan::Role::cell ? cells : ceilings).insert(run.cell.id());
    repetitions = std::max(repetitions, run.repetition + 1);
  }
  return counted(plan.size(), "run") + " (" + counted(cells.size(), "cell") + ", " +
         (ceilings.empty() ? "" : counted(ceilings.size(), "ceiling") + ", ") +
         counted(static_cast<std::size_t>(repetitions), "repetition") + "), at least " +
         duration(least_seconds(limits) * static_cast<double>(plan.size())) +
         further(command.precision);
}

// With --resume, prints only the runs that the ledger lacks. The ledger stays untouched.
void print_plan(std::vector<plan::PlannedRun> plan, const SweepCommand& command) {
  const std::filesystem::path file = command.experiment.output / "ledger.jsonl";
  if ((command.resume || command.force_resume) && std::filesystem::exists(file))
    plan = ledger::missing_of(std::move(plan), ledger::read_ledger(file).records);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    std::printf("%3zu  repetition %d  %-8s %s\n", i + 1, plan[i].repetition,
                std::string(plan::name_of(plan[i].role)).c_str(), plan[i].cell.label().c_str());
  }
  std::printf("%s\n", summary_of(plan, command).c_str());
}

// What a person sees of a sweep: stderr for the log and the live line, stdout for records (--json).
// On a terminal the log is a table that fills, elsewhere (and with --verbose) a line for each run.
class SweepLog {
 public:
  // `grows`: nobody knows yet how many repetitions there will be.
  SweepLog(const SweepCommand& command, bool grows)
      : command_(command),
        grows_(grows),
        is_table_(isatty(STDERR_FILENO) == 1 && !command.experiment.verbose),
        line_(command.experiment.quiet),
        slow_(command.experiment.run.limits, command.experiment.quiet) {}

  session::SweepHooks hooks() {
    return {
        .started = [this](const plan::PlannedRun& run, std::size_t number, std::size_t total,
                          std::optional<double> ceiling) { start(run, number, total, ceiling); },
        .progress = [this](const run::RunProgress& p) { show(p); },
        .finished = [this](const ledger::Record& record,
                           const nlohmann::ordered_json& json) { finish(record, json); }};
  }

  // "2 must not be quoted (!): harness_bound"; empty where there is none.
  std::string not_to_be_quoted() const {
    if (serious_runs_ == 0) return "";
    return std::to_string(serious_runs_) + " must not be quoted (!): " + listed(serious_flags_);
  }

 private:
  void note(const ledger::Record& record) {
    if (!record.result.measurement || record.valid) return;
    ++serious_runs_;
    for (const judge::Flag& flag : record.flags)
      if (flag.severity == judge::Severity::serious) serious_flags_.insert(flag.name);
  }
  void start(const plan::PlannedRun& run, std::size_t number, std::size_t total,
             std::optional<double> ceiling) {
    ceiling_ = ceiling;
    cell_ = run.cell, in_pairs_ = run.in_pairs;
    const std::string turn =
        grows_ ? "repetition " + std::to_string(run.repetition + 1) + ", " : "";
    title_ =
        "[" + turn + std::to_string(number) + "/" + std::to_string(total) + "] " + run.cell.label();
    number_ = number, left_ = total - number + 1;
    if (is_table_ && !table_) {
      table_.emplace(text::terminal_columns(), total, grows_, text::shows_colours(STDERR_FILENO));
      if (!command_.experiment.quiet) std::fprintf(stderr, "%s\n", table_->header().c_str());
    }
    line_.show(title_, {"preparing"});
  }
  void show(const run::RunProgress& progress) {
    slow_.look_at(progress, cell_, in_pairs_, line_);
    line_.show(title_, text::describe(progress, ceiling_, eta()));
  }
  void finish(const ledger::Record& record, const nlohmann::ordered_json& json) {
    line_.clear();
    note(record);
    // What failed is said even to those who want no progress.
    if (!command_.experiment.quiet || !record.result.measurement) {
      const std::string text =
          table_ ? table_->row(record, number_) : text::result_line(record, title_);
      std::fprintf(stderr, "%s\n", text.c_str());
    }
    if (command_.experiment.verbose && record.result.measurement)
      std::fputs(text::result_text(record, record.context.run.cell.label()).c_str(), stderr);
    if (command_.json) {
      std::printf("%s\n", ledger::to_line(json).c_str());
      std::fflush(stdout);
    }
    ++done_;
  }
  std::string eta() const {
    const double each =
        done_ > 0 ? measure::seconds(measure::now_ns() - start_ns_) / static_cast<double>(done_)
                  : least_seconds(command_.experiment.run.limits);
    return (grows_ ? " · repetition " : " · sweep ") + duration(each * static_cast<double>(left_)) +
           " left";
  }

  const SweepCommand& command_;
  const bool grows_, is_table_;
  text::ProgressLine line_;
  text::SlowStepNotice slow_;
  std::optional<text::SweepTable> table_;
  std::string title_;
  plan::Cell cell_;  // of the run in progress
  bool in_pairs_ = false;
  std::optional<double> ceiling_;  // of the same
  std::size_t number_ = 0, left_ = 0, done_ = 0, serious_runs_ = 0;
  std::set<std::string> serious_flags_;
  std::int64_t start_ns_ = measure::now_ns();
};

void say_outcome(const session::SweepOutcome& outcome, const ledger::Ledger& ledger) {
  std::fprintf(stderr, "%zu measured, %zu failed, %zu already there: %s\n", outcome.ok,
               outcome.failed, outcome.skipped, ledger.path().c_str());
  if (outcome.interrupted) std::fprintf(stderr, "feedrate: interrupted; go on with --resume\n");
}

// A line for each reason; empty if all cells are in pairs with their ceilings.
std::string not_in_pairs(const std::vector<plan::Cell>& cells) {
  std::map<std::string, int> reasons;
  for (const plan::Cell& cell : cells)
    if (const std::string why = plan::why_not_in_pairs(cell); !why.empty()) ++reasons[why];
  std::string lines;
  for (const auto& [why, count] : reasons)
    lines += format("%d cell%s measured between runs of the ceiling, not in pairs with it: %s\n",
                    count, count == 1 ? " is" : "s are", why.c_str());
  return lines;
}

void add_precision_options(CLI::App& app, session::PrecisionOptions& options) {
  cli::add_quantity(
      app, "--target-ci", options.target, {{"%", 0.01}}, 1, "must be as 2%: 100% at most",
      "repeat cells until the 95 % interval of each share of the ceiling is within ±X %, "
      "after --repetitions of all (then 6 by default)")
      ->type_name("X%");
  cli::add_duration(
      app, "--budget", options.budget_s,
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
                             least_seconds(experiment.run.limits));
  text::LiveWatcher watcher(experiment.run.qualify || experiment.verbose);
  if (launch && launch->rank > 0)
    return command.dry_run ? 0 : session::follow(*launch, cells, experiment.run, watcher);

  session::Measuring measuring(experiment, cells, command.dry_run ? std::nullopt : launch, watcher);
  if (!measuring.ready()) return measuring.exit_code(1);
  const std::size_t unreadable = measuring.check_but_go_on(plan);
  if (command.dry_run) {
    print_plan(plan, command);
    std::fputs(not_in_pairs(cells).c_str(), stdout);
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
    std::fprintf(stderr, "%s\n%s%s", summary_of(measuring.missing(plan), command).c_str(),
                 not_in_pairs(cells).c_str(), text::emulation_line(cells).c_str());
  SweepLog log(command, is_precise);
  const session::SweepOutcome outcome =
      is_precise ? session::sweep_to_precision(measuring, cells, command.precision,
                                               command.repetitions, experiment.run.seed,
                                               least_seconds(experiment.run.limits), log.hooks())
                 : measuring.run(plan, log.hooks(), /*stop_at_failure=*/false);
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
