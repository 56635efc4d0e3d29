#include "session/session.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "device/registry.h"
#include "device/step_trace.h"
#include "ledger/axes_file.h"
#include "ledger/plan_file.h"
#include "ledger/resume.h"
#include "machine/environment.h"
#include "session/ranks.h"

namespace feedrate::session {
namespace {

using Json = nlohmann::ordered_json;

// Takes names out of the records, where that is asked for.
std::optional<ledger::Anonymizer> anonymizer_of(const ExperimentOptions& options,
                                                const std::filesystem::path& data) {
  if (!options.anonymize) return std::nullopt;
  std::vector<std::filesystem::path> traces;
  if (const auto typed = options.axes.find("device"); typed != options.axes.end()) {
    for (const std::string& device : typed->second) {
      const auto argument = device::split_device(device).second;
      if (device::is_trace(argument)) traces.emplace_back(device::trace_name_from(argument).file);
    }
  }
  return ledger::Anonymizer(data, options.output, options.config, traces);
}

std::set<std::string> ids_of(const std::vector<plan::PlannedRun>& plan) {
  std::set<std::string> ids;
  for (const plan::PlannedRun& run : plan) ids.insert(run.cell.id());
  return ids;
}

}  // namespace

Session::Session(const ExperimentOptions& options, const std::vector<plan::Cell>& cells,
                 const std::optional<ranks::Launch>& launch, Watcher& watcher)
    : options_(options),
      watcher_(watcher),
      ranks_(open_ranks(launch, cells, options.run, watcher, token())),
      qualifier_(std::make_shared<run::Qualifier>(watcher.qualify_hooks())) {}

run::CellRunner& Session::runner(const std::filesystem::path& data) {
  auto& runner = sources_[data].runner;
  if (runner) return *runner;
  run::RunOptions options = options_.run;
  options.data = data;
  return runner.emplace(
      options, registry_, *ranks_,
      [this, data](std::uint64_t files) { watcher_.lists(data, files); },
      [this](const std::string& note) {
        if (!options_.quiet) watcher_.warns(note);
      },
      qualifier_);
}

std::unique_ptr<run::CellRunner> Session::another_runner(const run::RunOptions& options) {
  return std::make_unique<run::CellRunner>(options, registry_, *ranks_,
                                           runner(options.data).datasets(), qualifier_);
}

std::shared_ptr<const storage::DatasetVariant> Session::dataset_of(const plan::Cell& cell) {
  const auto dataset = runner().dataset_of(cell);
  watcher_.shows_nothing();
  return dataset;
}

// A bad device is told before a dataset is listed, which may take long.
void Session::check_devices(const std::vector<plan::PlannedRun>& plan) {
  for (const plan::PlannedRun& run : plan) runner().check_device(run.cell);
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

void Session::check(const std::vector<plan::PlannedRun>& plan) {
  check_devices(plan);
  for (const plan::PlannedRun& run : plan) runner().check(run.cell);
  watcher_.shows_nothing();
}

std::size_t Session::check_but_go_on(const std::vector<plan::PlannedRun>& plan) {
  check_devices(plan);
  CellsByError unreadable;
  std::exception_ptr first;
  bool reads_any = false;
  for (const plan::PlannedRun& run : plan) {
    try {
      runner().check(run.cell);
      reads_any = reads_any || !run.cell.is("data", "synthetic");
    } catch (const run::UnreadableDataset& error) {
      if (!first) first = std::current_exception();
      unreadable[error.what()].insert(run.cell.id());
    }
  }
  watcher_.shows_nothing();
  // After Ctrl-C, it may be that which has ended the look at a dataset.
  if (first && (!reads_any || is_stopped())) std::rethrow_exception(first);
  return say_unreadable(unreadable);
}

std::size_t Session::say_unreadable(const CellsByError& cells) const {
  const auto anonymizer = anonymizer_of(options_, options_.run.data);
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

// The records hold the environment without names, and --resume compares it so.
void Session::open_ledger(const std::vector<plan::PlannedRun>& plan, bool resume,
                          std::optional<bool> force) {
  for (auto& [data, source] : sources_) {
    source.anonymizer = anonymizer_of(options_, data);
    Json record = {{"environment", machine::capture_environment(data, options_.config)}};
    if (source.anonymizer) source.anonymizer->apply(record);
    source.environment = std::move(record["environment"]);
  }
  if (options_.output.empty()) return;
  ledger_ = std::make_unique<ledger::Ledger>(options_.output, resume);
  if (resume)
    differences_ =
        ledger::differences(*ledger_, runner(), sources_.at(options_.run.data).environment,
                            options_.run, ids_of(plan), force);
  if (ledger_->mend()) watcher_.warns(ledger_->path().string() + ": cut off a torn last record");
  ledger::keep_axes(options_.output);
}

std::vector<std::string> Session::command() const {
  return sources_.at(options_.run.data).environment.at("command").get<std::vector<std::string>>();
}

std::vector<plan::PlannedRun> Session::missing(const std::vector<plan::PlannedRun>& plan) const {
  return ledger_ ? ledger::missing_of(plan, ledger_->records()) : plan;
}

Session::Recorded Session::record_run(run::CellResult result, ledger::RunContext context,
                                      const run::RunOptions& options) {
  const Source& source = sources_.at(options.data);
  ledger::Record record =
      ledger::make_record(std::move(result), std::move(context), options, source.anonymizer);
  Json json = ledger::record_json(record, options, source.environment, source.anonymizer);
  if (ledger_) json = ledger_->append(std::move(json));
  return {std::move(record), std::move(json)};
}

void Session::end_ledger(bool is_whole) const {
  if (ledger_) ledger::keep_end(options_.output, {ledger_->size(), ledger_->last_xxh3(), is_whole});
}

std::string Session::cleaned(const std::string& line) {
  const auto source = sources_.find(options_.run.data);
  const bool is_named = source == sources_.end() || !source->second.anonymizer;
  return is_named ? line : source->second.anonymizer->cleaned(line);
}

}  // namespace feedrate::session
