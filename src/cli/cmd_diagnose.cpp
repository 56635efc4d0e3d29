#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/commands.h"
#include "cli/diagnosing.h"
#include "cli/diagnosis_text.h"
#include "cli/ledger_evidence.h"
#include "cli/measuring.h"
#include "cli/options.h"
#include "cli/plant_option.h"
#include "cli/quantity.h"
#include "cli/result_text.h"
#include "measure/clock.h"
#include "measure/memory.h"
#include "record/diagnosis_json.h"
#include "record/record_json.h"
#include "record/rounds_file.h"

namespace feedrate::cli {
namespace {

constexpr double kBudget = 120;  // s
// Samples that a rung's cache keeps: each run fills it anew.
constexpr std::size_t kMostCached = 512;

struct DiagnoseCommand {
  ExperimentOptions experiment;
  std::optional<double> budget_s;
  std::vector<std::string> plants;
  std::filesystem::path from;
  bool resume = false, is_tried = false, json = false;
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

void print(bool as_json, const record::DiagnosisOf& of, const diagnose::Evidence& evidence,
           const diagnose::Diagnosis& diagnosis) {
  if (as_json) {
    std::printf("%s\n", record::to_line(record::diagnosis_json(of, evidence, diagnosis)).c_str());
  } else {
    std::fputs(diagnosis_text(of, evidence, diagnosis).c_str(), stdout);
  }
}

// One diagnosis: rounds until they are as many as were planned, then the answer.
class Session {
 public:
  Session(DiagnoseCommand& command, Measuring& measuring, const plan::Cell& cell)
      : command_(command),
        measuring_(measuring),
        cell_(cell),
        budget_s_(command.budget_s.value_or(kBudget)),
        began_ns_(measure::now_ns()),
        diagnosing_(measuring, cell, ladder_of(cell), command.experiment.run.seed),
        evidence_{.settings = diagnosing_.settings(),
                  .servers = {},
                  .serial_copies = diagnosing_.settings().device_kind == "cpu",
                  .rounds = {}} {}

  int carry_out() {
    if (command_.resume) go_on_from(command_.experiment.output);
    const bool is_whole = measure();
    if (!is_whole) std::fprintf(stderr, "feedrate: interrupted%s\n", how_to_go_on().c_str());
    if (evidence_.rounds.empty()) return measuring_.exit_code(1);
    return measuring_.exit_code(answer(is_whole && command_.is_tried) ? 0 : 1);
  }

 private:
  double seconds() const { return measure::seconds(measure::now_ns() - began_ns_); }
  const std::filesystem::path& folder() const { return command_.experiment.output; }
  std::string how_to_go_on() const {
    return folder().empty() ? "" : "; go on: the same command with --resume";
  }

  // Throws an Error where the folder holds another cell's.
  void go_on_from(const std::filesystem::path& folder) {
    const auto found = record::read_rounds(folder);
    if (!found) return;
    if (found->head.cell_id != cell_.id()) {
      throw Error((folder / record::kRoundsFile).string(), "is of another cell",
                  "give the same options, or another folder: -o DIR");
    }
    head_ = found->head;
    evidence_.rounds = found->rounds;
    evidence_.servers = head_->servers;
    diagnosing_.go_on_from(head_->seen);
  }

  // False: interrupted.
  bool measure() {
    const int first = first_repetition();
    for (int round = 0; !is_enough(); ++round) {
      const std::string title = title_of(evidence_.rounds.size() + 1);
      const double before_s = seconds();
      if (!diagnosing_.measure_ladder(first + round, title)) return false;
      const double ladder_s = seconds() - before_s;
      if (!head_) set_head(budget_s_ - before_s, ladder_s);
      if (!diagnosing_.measure_blocks(head_->plan, title)) return false;
      evidence_.rounds.push_back(diagnosing_.round());
      head_->seen = diagnosing_.seen();
      if (!folder().empty()) record::write_rounds(folder(), {*head_, evidence_.rounds});
      round_s_ = std::max(round_s_, seconds() - before_s);
    }
    return true;
  }
  // Behind what an interrupted round has left in the ledger.
  int first_repetition() const {
    int next = 0;
    if (!measuring_.ledger()) return next;
    for (const auto& record : measuring_.ledger()->records())
      next = std::max(next, record.value("repetition", 0) + 1);
    return next;
  }
  // Rounds that take longer than the first one did end it earlier.
  bool is_enough() const {
    const std::size_t done = evidence_.rounds.size();
    if (!head_ || done == 0) return false;
    return done >= static_cast<std::size_t>(head_->plan.rounds) ||
           (!command_.resume && seconds() + 0.7 * round_s_ > budget_s_);
  }
  std::string title_of(std::size_t round) const {
    return head_ ? format("round %zu of %d", round, head_->plan.rounds) : std::string("round 1");
  }
  void set_head(double left_s, double ladder_s) {
    evidence_.servers = diagnosing_.servers();
    head_ = record::RoundsHead{
        .cell_id = cell_.id(),
        .device = diagnosing_.device(),
        .plan = plan_of(left_s, ladder_s, diagnosing_.step_s(), diagnosing_.probes()),
        .servers = evidence_.servers};
  }

  diagnose::Surroundings surroundings() const {
    diagnose::Surroundings s{.memory_available = static_cast<double>(measure::memory_available()),
                             .takes_engines = cell_["io"].has_value()};
    const auto dataset = measuring_.dataset_of(cell_);
    if (dataset && !dataset->samples.empty()) {
      s.samples = static_cast<double>(dataset->samples.size());
      s.bytes_per_sample = static_cast<double>(dataset->total_bytes) / s.samples;
    }
    return s;
  }

  // Whether all that was asked for has an answer.
  bool answer(bool is_tried) {
    const diagnose::Diagnosis diagnosis = diagnose::diagnosis_of(evidence_);
    std::vector<diagnose::Remedy> advice =
        diagnose::advice_of(evidence_, diagnosis, surroundings());
    const bool is_whole =
        !is_tried ||
        diagnosing_.try_out(advice, first_repetition() + static_cast<int>(evidence_.rounds.size()));
    const record::DiagnosisOf of{.cell = cell_,
                                 .device = head_->device,
                                 .seconds = seconds(),
                                 .left_out = diagnosing_.seen().left_out,
                                 .advice = advice,
                                 .patterns = diagnosing_.patterns()};
    if (!folder().empty()) {
      write_whole_file(
          folder() / "diagnosis.json",
          record::diagnosis_json(of, evidence_, diagnosis)
                  .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
              "\n",
          /*durable=*/true);
    }
    print(command_.json, of, evidence_, diagnosis);
    return is_whole;
  }

  DiagnoseCommand& command_;
  Measuring& measuring_;
  const plan::Cell cell_;
  const double budget_s_;
  const std::int64_t began_ns_;
  Diagnosing diagnosing_;
  diagnose::Evidence evidence_;
  std::optional<record::RoundsHead> head_;  // from the first round's ladder on
  double round_s_ = 0;                      // the longest round
};

// Of a ledger that is there: nothing is measured, and nothing written.
int diagnose_ledger(const DiagnoseCommand& command) {
  LedgerEvidence found = evidence_from(command.from, command.experiment.where);
  const diagnose::Diagnosis diagnosis = diagnose::diagnosis_of(found.evidence);
  found.of.advice = diagnose::advice_of(found.evidence, diagnosis, {.takes_engines = false});
  print(command.json, found.of, found.evidence, diagnosis);
  return 0;
}

int diagnose(CLI::App& app, DiagnoseCommand& command) {
  if (!command.from.empty()) return diagnose_ledger(command);
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
  if (command.resume && experiment.output.empty())
    throw UsageError("--resume", "needs the folder that holds the diagnosis", "give it: -o DIR");
  const double budget_s = command.budget_s.value_or(kBudget);
  set_default_limits(app, budget_s, experiment.run.limits);
  experiment.run.most_cached = kMostCached;
  plant(command.plants, experiment.run);
  Measuring measuring(experiment, cells, std::nullopt);
  if (!measuring.ready()) return measuring.exit_code(1);
  measuring.check({{cell, plan::Role::cell, 0}});
  measuring.open_ledger({}, command.resume, /*force=*/false);
  std::fprintf(stderr, "diagnosing %s: about %s (--budget)\n", cell.label().c_str(),
               duration(budget_s).c_str());
  return Session(command, measuring, cell).carry_out();
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
