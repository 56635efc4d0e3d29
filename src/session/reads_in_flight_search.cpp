#include "session/reads_in_flight_search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"
#include "judge/flags.h"
#include "measure/affinity.h"
#include "measure/control_group.h"
#include "session/ladder_cells.h"
#include "session/session.h"
#include "session/sweep.h"

namespace feedrate::session {
namespace {

// The depth is an axis of what reads files one by one, and `direct` refuses more than one.
bool takes_a_depth(const plan::Cell& cell) {
  const auto deeper = with(cell, {{"io-depth", "2"}});
  return deeper && deeper->is("io-depth", "2");
}

int cpus_for_workers() {
  const int cpus = measure::allowed_cpus();
  const double quota = measure::cpu_quota().cpus;
  return quota > 0 ? std::min(cpus, std::max(1, static_cast<int>(std::ceil(quota)))) : cpus;
}

judge::InFlightSearch::Limits search_limits(const SearchedCell& searched, const TypedReads& typed) {
  constexpr int kMost = 64;  // workers, and reads of each
  const judge::LoaderReads given{searched.settings.workers, searched.settings.io_depth};
  judge::InFlightSearch::Limits limits{given, given, cpus_for_workers()};
  if (!typed.workers) limits.start.workers = 1, limits.most.workers = kMost;
  if (!typed.depth && takes_a_depth(searched.cell))
    limits.start.depth = 1, limits.most.depth = kMost;
  return limits;
}

// Small batches, so that a slow storage ends several of them in a short window.
plan::Cell client_cell(const SearchedCell& searched) {
  constexpr int kMostImages = 32;
  const int batch = std::min(kMostImages, searched.settings.batch_size);
  return changed(searched.cell, {{"gpus", "1"},
                                 {"batch-size", std::to_string(batch)},
                                 {"device", "emulated:inf"},
                                 {"host-cpu-ms", "0"},
                                 {"all-reduce-ms", "0"}});
}

plan::Cell cell_with_reads(const plan::Cell& cell, const judge::LoaderReads& reads) {
  std::map<std::string, std::string> values{{"workers", std::to_string(reads.workers)}};
  if (cell["io-depth"]) values["io-depth"] = std::to_string(reads.depth);
  return changed(cell, values);
}

// The orders of its runs are none of those in which the search for GPUs reads.
ExperimentOptions client_options(const ExperimentOptions& experiment) {
  constexpr std::uint64_t kSeedsApart = 1 << 20;
  ExperimentOptions options = experiment;
  options.run.seed += kSeedsApart;
  options.run.limits = short_limits(experiment.run.limits);
  if (!options.output.empty()) options.output /= kReadsFolder;
  return options;
}

// Measures in one sweep, live.
class ClientRuns {
 public:
  ClientRuns(Session& session, const SearchedCell& searched,
             const judge::InFlightSearch::Limits& limits)
      : session_(session),
        watcher_(session.watcher()),
        cell_(client_cell(searched)),
        search_(limits) {}

  // Throws the Error of a run that failed.
  void run() {
    const auto first = next();
    const SweepHooks hooks{
        .progress = [this](const run::RunProgress& p) { watcher_.shows(label(), p); },
        .finished = [this](const ledger::Record& record,
                           const nlohmann::ordered_json&) { finish(record); },
        .more = [this] { return next(); }};
    const SweepOutcome outcome = run_sweep(session_, first, hooks, /*stop_at_failure=*/true);
    watcher_.shows_nothing();
    if (!failed_.empty()) throw std::runtime_error(failed_);
    if (outcome.interrupted) found_.interrupted = session_.exit_code(1);
  }

  ReadsFound found() const {
    ReadsFound found = found_;
    found.is_searched = true;
    if (found.interrupted) return found;
    found.chosen = search_.chosen();
    found.more_adds_nothing = search_.more_adds_nothing();
    found.serious = listed(serious_);
    return found;
  }

 private:
  std::vector<plan::PlannedRun> next() {
    while (const auto reads = search_.next()) {
      const auto before = found_.readings.find(*reads);
      const auto runs = before == found_.readings.end() ? 0 : before->second.size();
      std::vector<plan::PlannedRun> plan = {
          {cell_with_reads(cell_, *reads), plan::Role::cell, static_cast<int>(runs), planned_}};
      try {
        session_.check(plan);
        now_ = *reads;
        ++planned_;
        return plan;
      } catch (const Error& error) {
        if (found_.readings.empty()) throw;
        found_.limit = error.what();
        search_.cannot(*reads);
      }
    }
    return {};
  }
  std::string label() const { return "reads in flight, " + reads_text(now_); }
  void finish(const ledger::Record& record) {
    watcher_.shows_nothing();
    const run::CellResult& result = record.result;
    if (result.status == run::Status::failed) failed_ = result.error;
    if (!result.measurement) return;
    const run::Measurement& m = *result.measurement;
    const auto median_ns = m.latencies.percentile_ns(0.5);
    if (found_.readings.empty() && median_ns)
      found_.first_read_ms = 1e-6 * static_cast<double>(*median_ns);
    for (const judge::Flag& flag : record.flags)
      if (flag.severity == judge::Severity::serious && flag.name != kCorrectedFlag)
        serious_.insert(flag.name);
    const Reading reading = reading_of(result);
    search_.add(now_, reading.imgs_per_s);
    found_.readings[now_].push_back(reading);
    watcher_.logs(label() + ": " + thousands(reading.imgs_per_s) + " img/s");
  }

  Session& session_;
  Watcher& watcher_;
  const plan::Cell cell_;
  judge::InFlightSearch search_;
  judge::LoaderReads now_;
  ReadsFound found_;
  std::set<std::string> serious_;
  std::string failed_;
  int planned_ = 0;
};

}  // namespace

std::string reads_text(const judge::LoaderReads& reads) {
  return std::to_string(reads.workers) + (reads.workers == 1 ? " worker" : " workers") +
         " x depth " + std::to_string(reads.depth);
}

SearchedCell searched_cell_with(const SearchedCell& searched, const judge::LoaderReads& reads) {
  return searched_cell(cell_with_reads(searched.cell, reads));
}

ReadsFound search_reads_in_flight(const SearchedCell& searched, const ExperimentOptions& experiment,
                                  const TypedReads& typed, Watcher& watcher) {
  const judge::InFlightSearch::Limits limits = search_limits(searched, typed);
  if (limits.start == limits.most) return {.typed = typed, .chosen = limits.start};
  const ExperimentOptions options = client_options(experiment);
  Session session(options, {searched.cell}, std::nullopt, watcher);
  // What the search for GPUs would refuse is refused now.
  session.runner().check_device(searched.cell);
  check_cold_pass(searched, session.dataset_of(searched.cell)->samples.size(), 1,
                  experiment.run.limits);
  session.open_ledger({}, /*resume=*/false);
  ClientRuns runs(session, searched, limits);
  runs.run();
  ReadsFound found = runs.found();
  found.typed = typed;
  return found;
}

}  // namespace feedrate::session
