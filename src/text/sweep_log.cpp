#include "text/sweep_log.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "base/text.h"
#include "device/step_trace.h"
#include "ledger/reproduction.h"
#include "measure/clock.h"
#include "plan/expand.h"
#include "text/result_text.h"
#include "text/terminal.h"

namespace feedrate::text {
namespace {

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
std::string summary_of_plan(const std::vector<plan::PlannedRun>& plan, const run::RunLimits& limits,
                            const session::PrecisionOptions& precision) {
  std::set<std::string> cells, ceilings;
  int repetitions = 0;
  for (const plan::PlannedRun& run : plan) {
    (run.role == plan::Role::cell ? cells : ceilings).insert(run.cell.id());
    repetitions = std::max(repetitions, run.repetition + 1);
  }
  return counted(plan.size(), "run") + " (" + counted(cells.size(), "cell") + ", " +
         (ceilings.empty() ? "" : counted(ceilings.size(), "ceiling") + ", ") +
         counted(static_cast<std::size_t>(repetitions), "repetition") + "), at least " +
         duration(session::least_seconds(limits) * static_cast<double>(plan.size())) +
         further(precision);
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

// Whether a label alone does not say which device a run is on.
bool differ_in_device(const std::vector<plan::Cell>& cells) {
  return std::ranges::any_of(
      cells, [&](const plan::Cell& cell) { return cell["device"] != cells.front()["device"]; });
}

double now_s() { return measure::seconds(measure::now_ns()); }

bool replays_a_file(const session::ExperimentOptions& experiment) {
  const auto typed = experiment.axes.find("device");
  return typed != experiment.axes.end() &&
         std::ranges::any_of(typed->second, &device::replays_steps);
}

// A launcher's command is not known, an anonymous ledger does not keep the paths, and a command
// that was forced may differ from the one that planned its runs; so may the dataset's path.
std::string command_to_go_on(const session::Session& session) {
  const session::ExperimentOptions& experiment = session.options();
  const bool is_forced = !session.differences().empty();
  if (is_forced || session.is_launched() ||
      (experiment.anonymize && (!experiment.config.empty() || replays_a_file(experiment))))
    return std::string("the same command with ") + (is_forced ? "--force-resume" : "--resume");
  ledger::Arguments words = {"sweep", "-o", experiment.output.string(), "--resume"};
  if (!experiment.data.empty()) words.insert(words.end(), {"--dataset", experiment.data.string()});
  return ledger::shell_line(words);
}

std::string run_label(const plan::Cell& cell, bool names_device) {
  return names_device ? label_with_device(cell) : cell.label();
}

}  // namespace

void print_plan(const std::vector<plan::PlannedRun>& plan, const std::vector<plan::Cell>& cells,
                const run::RunLimits& limits, const session::PrecisionOptions& precision) {
  const bool names_devices = differ_in_device(cells);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    std::printf("%3zu  repetition %d  %-8s %s\n", i + 1, plan[i].repetition,
                std::string(plan::name_of(plan[i].role)).c_str(),
                run_label(plan[i].cell, names_devices).c_str());
  }
  std::printf("%s\n%s%s", summary_of_plan(plan, limits, precision).c_str(),
              not_in_pairs(cells).c_str(), emulation_lines(cells).c_str());
}

SweepLog::SweepLog(const session::Session& session, const session::PrecisionOptions& precision,
                   bool prints_json)
    : session_(session),
      experiment_(session.options()),
      precision_(precision),
      prints_json_(prints_json),
      is_table_(isatty(STDERR_FILENO) == 1 && !experiment_.verbose),
      grows_(precision.is_asked()),
      run_(experiment_.run.limits, experiment_.quiet),
      time_left_(session::least_seconds(experiment_.run.limits)) {
  for (const auto& record : session.ledger()->records()) end_.add(record);
}

session::SweepHooks SweepLog::hooks() {
  return {.started = [this](const plan::PlannedRun& run, std::size_t number, std::size_t total,
                            std::optional<double> ceiling) { start(run, number, total, ceiling); },
          .progress = [this](const run::RunProgress& p) { run_.show(p, eta()); },
          .finished = [this](const ledger::Record& record,
                             const nlohmann::ordered_json& json) { finish(record, json); }};
}

void SweepLog::begin(const std::vector<plan::PlannedRun>& plan,
                     const std::vector<plan::Cell>& cells) {
  names_devices_ = differ_in_device(cells);
  cells_ = cells;
  if (experiment_.quiet) return;
  std::fprintf(stderr, "%s\n%s%s",
               summary_of_plan(session_.missing(plan), experiment_.run.limits, precision_).c_str(),
               not_in_pairs(cells).c_str(), emulation_lines(cells).c_str());
}

void SweepLog::end(const session::SweepOutcome& outcome) const {
  if (experiment_.quiet && outcome.failed == 0 && !outcome.interrupted) return;
  std::fputs(end_.caveats().c_str(), stderr);
  std::fprintf(stderr, "%zu measured, %zu failed, %zu already there: %s\n", outcome.ok,
               outcome.failed, outcome.skipped, session_.ledger()->path().c_str());
  if (!experiment_.quiet) std::fputs(end_.text(cells_, names_devices_).c_str(), stderr);
  if (outcome.interrupted) {
    say_interrupted(outcome);
  } else if (!experiment_.quiet && outcome.ok + outcome.skipped > 0) {
    const std::string folder = experiment_.output.string();
    std::fprintf(stderr, "next: %s\n", ledger::shell_line({"report", folder}).c_str());
  }
}

void SweepLog::say_interrupted(const session::SweepOutcome& outcome) const {
  const std::size_t done = outcome.ok + outcome.failed + outcome.skipped;
  const std::string of = grows_ ? "" : " of " + std::to_string(outcome.planned);
  std::fprintf(stderr, "feedrate: interrupted after %zu%s run%s; go on: %s\n", done, of.c_str(),
               outcome.planned == 1 || (grows_ && done == 1) ? "" : "s",
               command_to_go_on(session_).c_str());
}

void SweepLog::start(const plan::PlannedRun& run, std::size_t number, std::size_t total,
                     std::optional<double> ceiling) {
  number_ = number;
  time_left_.begin(total - number + 1, now_s());
  if (is_table_ && !table_) {
    table_.emplace(terminal_columns(), total, grows_, shows_colours(STDERR_FILENO), names_devices_);
    if (!experiment_.quiet) std::fprintf(stderr, "%s\n", table_->header().c_str());
  }
  const std::string turn = grows_ ? "repetition " + std::to_string(run.repetition + 1) + ", " : "";
  LiveLabels titles = live_labels(run.cell, names_devices_);
  for (std::string& title : titles)
    title.insert(0, "[" + turn + std::to_string(number) + "/" + std::to_string(total) + "] ");
  run_.begin(run, std::move(titles), ceiling);
}

void SweepLog::finish(const ledger::Record& record, const nlohmann::ordered_json& json) {
  run_.end();
  // What failed is said even to those who want no progress.
  if (!experiment_.quiet || !record.result.measurement) {
    const std::string text =
        table_ ? table_->row(record, number_) : result_line(record, run_.title());
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  if (experiment_.verbose && record.result.measurement)
    std::fputs(result_text(record, record.context.run.cell.label()).c_str(), stderr);
  if (prints_json_) print_json(json);
  std::vector<judge::Flag> flags = record.flags;
  for (judge::Flag& flag : flags) flag.reason += " (" + run_.title() + ")";
  end_.add(json, std::move(flags));
  time_left_.end(record.result.measurement.has_value(), now_s());
}

// " · sweep > 3 min left" before a run has ended.
std::string SweepLog::eta() {
  return std::string(grows_ ? " · repetition " : " · sweep ") +
         (time_left_.is_known() ? "" : "> ") + duration(time_left_.at(now_s())) + " left";
}

}  // namespace feedrate::text
