#include "session/measuring.h"

#include <algorithm>
#include <exception>

#include "device/registry.h"
#include "device/step_trace.h"
#include "ledger/axes_file.h"
#include "ledger/plan_file.h"
#include "ledger/resume.h"
#include "machine/environment.h"
#include "session/ranks.h"

namespace feedrate::session {

std::optional<ledger::Anonymizer> anonymizer_of(const ExperimentOptions& options) {
  if (!options.anonymize) return std::nullopt;
  std::vector<std::filesystem::path> traces;
  if (const auto typed = options.axes.find("device"); typed != options.axes.end()) {
    for (const std::string& device : typed->second) {
      const auto argument = device::split_device(device).second;
      if (device::is_trace(argument)) traces.emplace_back(device::trace_name_from(argument).file);
    }
  }
  return ledger::Anonymizer(options.data, options.output, options.config, traces);
}

nlohmann::ordered_json environment_of(const ExperimentOptions& options,
                                      const std::optional<ledger::Anonymizer>& anonymizer) {
  nlohmann::ordered_json record = {
      {"environment", machine::capture_environment(options.data, options.config)}};
  if (anonymizer) anonymizer->apply(record);
  return record["environment"];
}

namespace {

std::set<std::string> ids_of(const std::vector<plan::PlannedRun>& plan) {
  std::set<std::string> ids;
  for (const plan::PlannedRun& run : plan) ids.insert(run.cell.id());
  return ids;
}

}  // namespace

Measuring::Measuring(const ExperimentOptions& options, const std::vector<plan::Cell>& cells,
                     const std::optional<ranks::Launch>& launch, Watcher& watcher)
    : options_(options),
      watcher_(watcher),
      ranks_(open_ranks(launch, cells, options.run, watcher, signals_.token())) {
  if (!ranks_) return;
  runner_.emplace(
      options.run, registry_, *ranks_,
      [this](std::uint64_t files) { watcher_.lists(options_.data, files); },
      [this](const std::string& note) { watcher_.warns(note); },
      std::make_shared<run::Qualifier>(watcher_.qualify_hooks()));
}

std::shared_ptr<const storage::DatasetVariant> Measuring::dataset_of(const plan::Cell& cell) {
  const auto dataset = runner_->dataset_of(cell);
  watcher_.shows_nothing();
  return dataset;
}

// A bad device is told before a dataset is listed, which may take long.
void Measuring::check_devices(const std::vector<plan::PlannedRun>& plan) {
  for (const plan::PlannedRun& run : plan) runner_->check_device(run.cell);
  const auto makes_steps = [&](const plan::PlannedRun& run) {
    return registry_.find(run.cell["device"].value()).trials != nullptr;
  };
  if (options_.run.qualify && !plan.empty() && std::ranges::none_of(plan, makes_steps)) {
    throw UsageError(
        "--qualify",
        "--device " + plan.front().cell["device"].value() + " has no step to make faster",
        "leave it out");
  }
}

void Measuring::check(const std::vector<plan::PlannedRun>& plan) {
  check_devices(plan);
  for (const plan::PlannedRun& run : plan) runner_->check(run.cell);
  watcher_.shows_nothing();
}

std::size_t Measuring::check_but_go_on(const std::vector<plan::PlannedRun>& plan) {
  check_devices(plan);
  CellsByError unreadable;
  std::exception_ptr first;
  bool reads_any = false;
  for (const plan::PlannedRun& run : plan) {
    try {
      runner_->check(run.cell);
      reads_any = reads_any || !run.cell.is("data", "synthetic");
    } catch (const run::UnreadableDataset& error) {
      if (!first) first = std::current_exception();
      unreadable[error.what()].insert(run.cell.id());
    }
  }
  watcher_.shows_nothing();
  // After Ctrl-C, it may be that which has ended the look at a dataset.
  if (first && (!reads_any || signals_.token().stop_requested())) std::rethrow_exception(first);
  return say_unreadable(unreadable);
}

std::size_t Measuring::say_unreadable(const CellsByError& cells) const {
  const auto anonymizer = anonymizer_of(options_);
  std::size_t all = 0;
  for (const auto& [error, ids] : cells) {
    const std::string line = anonymizer ? anonymizer->cleaned(error) : error;
    const std::string its =
        ids.size() == 1 ? "its cell" : "its " + std::to_string(ids.size()) + " cells";
    watcher_.warns(line + " (" + its + " cannot be measured; the sweep goes on with the others)");
    all += ids.size();
  }
  return all;
}

void Measuring::open_ledger(const std::vector<plan::PlannedRun>& plan, bool resume,
                            std::optional<bool> force) {
  anonymizer_ = anonymizer_of(options_);
  environment_ = environment_of(options_, anonymizer_);
  if (options_.output.empty()) return;
  ledger_ = std::make_unique<ledger::Ledger>(options_.output, resume);
  differences_ =
      ledger::differences(*ledger_, *runner_, environment_, options_.run, ids_of(plan), force);
  if (ledger_->mend()) watcher_.warns(ledger_->path().string() + ": cut off a torn last record");
  ledger::keep_axes(options_.output);
}

std::vector<plan::PlannedRun> Measuring::missing(const std::vector<plan::PlannedRun>& plan) const {
  return ledger_ ? ledger::missing_of(plan, ledger_->records()) : plan;
}

std::vector<plan::PlannedRun> Measuring::left_over(std::vector<plan::Cell> cells,
                                                   int repetition) const {
  const std::set<std::string> planned = ledger::planned_cells(options_.output, repetition);
  std::erase_if(cells, [&](const plan::Cell& cell) { return !planned.contains(cell.id()); });
  const auto runs = plan::plan_repetition(cells, repetition, options_.run.seed);
  return missing(runs).empty() ? std::vector<plan::PlannedRun>{} : runs;
}

std::vector<plan::PlannedRun> Measuring::keep(std::vector<plan::PlannedRun> runs) const {
  ledger::keep_plan(options_.output, runs, ledger_->size());
  return runs;
}

std::string Measuring::cleaned(const std::string& line) const {
  return anonymizer_ ? anonymizer_->cleaned(line) : line;
}

std::span<const measure::Place> Measuring::delays_served(const plan::Cell& cell) {
  return registry_.find(plan::settings_of(cell).device).delays;
}

run::CellResult Measuring::run_blocks(const plan::Cell& cell, const run::BlockPlan& blocks,
                                      double most_seconds, const run::ProgressSink& progress,
                                      std::uint64_t seed) {
  return runner_->run_blocks(cell, blocks, most_seconds, progress, signals_.token(), seed);
}

SweepOutcome Measuring::run(const std::vector<plan::PlannedRun>& plan, const SweepHooks& hooks,
                            bool stop_at_failure, const std::optional<plan::Precision>& precision) {
  SweepHooks kept = hooks;
  if (ledger_) {
    keep(plan);
    if (hooks.more) kept.more = [&] { return keep(hooks.more()); };
  }
  const ledger::RecordWriter writer(options_.run, environment_, anonymizer_);
  const SweepOutcome outcome = run_sweep(plan, *runner_, writer, ledger_.get(),
                                         {.run = options_.run,
                                          .differences = differences_,
                                          .stop_at_failure = stop_at_failure,
                                          .measure_again = !stop_at_failure,
                                          .precision = precision,
                                          .trace = options_.trace},
                                         kept, signals_.token());
  const bool whole = outcome.ok + outcome.failed + outcome.skipped == outcome.planned;
  if (ledger_) ledger::keep_end(options_.output, {ledger_->size(), ledger_->last_xxh3(), whole});
  return outcome;
}

}  // namespace feedrate::session
