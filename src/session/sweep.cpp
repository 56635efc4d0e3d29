#include "session/sweep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ledger/plan_file.h"
#include "ledger/recorded_measurement.h"
#include "ledger/resume.h"
#include "plan/expand.h"

namespace feedrate::session {
namespace {

using Json = nlohmann::ordered_json;

// The ceilings that open each repetition.
class Ceilings {
 public:
  explicit Ceilings(const std::vector<Json>& records) {
    for (const Json& record : records) {
      const bool opens = record["cell"]["data"] == "synthetic" && record.value("place", 0) == 0;
      if (opens && record["status"] == "ok")
        opening_[{record["cell_id"], record["repetition"]}] = ledger::as_ceiling(record);
    }
  }
  void add(const ledger::Record& record) {
    const plan::PlannedRun& run = record.context.run;
    if (run.role != plan::Role::opening_ceiling || !record.result.measurement) return;
    const run::Measurement& m = *record.result.measurement;
    opening_[{run.cell.id(), run.repetition}] = {
        m.imgs_per_s, m.device_rate, judge::serious_names(record.flags), m.device.kernels};
  }
  // Of the repetition that the run is part of; nothing where that ceiling has failed, or is the run
  // itself.
  std::optional<judge::Ceiling> of(const plan::PlannedRun& run) const {
    const auto found = opening_.find({plan::ceiling_of(run.cell).id(), run.repetition});
    const bool is_missing =
        found == opening_.end() || run.role == plan::Role::opening_ceiling || run.in_pairs;
    return is_missing ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::pair<std::string, int>, judge::Ceiling> opening_;  // by cell_id and repetition
};

// What of each cell's files lay in the page cache when its first repetition began.
class FirstPageCaches {
 public:
  explicit FirstPageCaches(const std::vector<Json>& records) {
    for (const Json& record : records) {
      const Json& dataset = record["dataset"];
      if (record["status"] == "ok" && dataset.is_object())
        keep(record["cell_id"], {.state = dataset.value("page_cache", ""),
                                 .before = dataset.value("page_cache_before", -1.0)});
    }
  }
  void add(const ledger::Record& record) {
    if (const auto& m = record.result.measurement)
      keep(record.context.run.cell.id(), m->page_cache);
  }
  std::optional<run::PageCache> of(const plan::Cell& cell) const {
    const auto found = first_.find(cell.id());
    return found == first_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void keep(const std::string& cell, const run::PageCache& cache) {
    if (!cache.state.empty()) first_.emplace(cell, cache);
  }
  std::map<std::string, run::PageCache> first_;  // by cell_id
};

// Cells of one setting in one repetition share their processes, as they share the network, the
// kernels that were chosen for it, and the ceiling. What differs from process to process so stays
// between repetitions, where the report's intervals see it.
std::string team_of(const plan::PlannedRun& run) {
  if (!run.in_pairs) return "";
  return plan::ceiling_of(run.cell).id() + " " + std::to_string(run.repetition);
}

// A sweep under way.
class Sweep {
 public:
  Sweep(Session& session, const SweepHooks& hooks, bool stop_at_failure,
        const std::optional<plan::Precision>& precision)
      : session_(session),
        hooks_(hooks),
        stop_at_failure_(stop_at_failure),
        precision_(precision),
        before_(session.ledger() ? session.ledger()->records() : std::vector<Json>{}),
        ceilings_(before_),
        page_caches_(before_),
        order_(static_cast<int>(session.ledger() ? session.ledger()->size() : 0)) {}

  SweepOutcome run(std::vector<plan::PlannedRun> plan) {
    while (!plan.empty() && !ended_) {
      if (const ledger::Ledger* ledger = session_.ledger())
        ledger::keep_plan(session_.options().output, plan, ledger->size(), session_.command());
      const std::vector<plan::PlannedRun> missing = session_.missing(plan);
      outcome_.planned += plan.size();
      outcome_.skipped += plan.size() - missing.size();
      measure_all(missing);
      if (ended_ || !hooks_.more) break;
      plan = hooks_.more();
    }
    session_.end_ledger(outcome_.ok + outcome_.failed + outcome_.skipped == outcome_.planned);
    return outcome_;
  }

 private:
  void measure_all(const std::vector<plan::PlannedRun>& runs) {
    bool again = false;
    for (std::size_t i = 0; i < runs.size() && !ended_; i += again ? 0 : 1) {
      if (session_.is_stopped()) {
        outcome_.interrupted = ended_ = true;
        return;
      }
      const ledger::Record record = measure(runs[i], i + 1, runs.size(), again);
      again = !stop_at_failure_ && !again && stood_still(record);
      if (!again) count(record.result.status);
    }
  }

  // `again`: in place of the last one.
  ledger::Record measure(const plan::PlannedRun& run, std::size_t number, std::size_t total,
                         bool again) {
    const ExperimentOptions& options = session_.options();
    const auto ceiling = ceilings_.of(run);
    hooks_.started(run, number, total,
                   run.role == plan::Role::cell && ceiling ? std::optional(ceiling->imgs_per_s)
                                                           : std::nullopt);
    run::CellResult result =
        session_.runner().run(run.cell, hooks_.progress, session_.token(),
                              {.seed = run.seed(options.run.seed),
                               .max_seconds = run.max_seconds,
                               .trace = number == total ? options.trace : std::filesystem::path{},
                               .in_pairs = run.in_pairs,
                               .team = team_of(run)});
    run::RunOptions own = options.run;
    own.limits.max_seconds = run.max_seconds.value_or(own.limits.max_seconds);
    std::vector<std::string> differences = session_.differences();
    std::ranges::move(ledger::device_differences(before_, result), std::back_inserter(differences));
    auto [record, json] = session_.record_run(
        std::move(result),
        {run, order_++, ceiling, page_caches_.of(run.cell), std::move(differences), precision_},
        own);
    if (again && record.result.measurement && hooks_.replaced) hooks_.replaced();
    hooks_.finished(record, json);
    ceilings_.add(record);
    page_caches_.add(record);
    return std::move(record);
  }

  void count(run::Status status) {
    if (status == run::Status::ok) ++outcome_.ok;
    if (status == run::Status::failed) ++outcome_.failed;
    outcome_.interrupted = status == run::Status::interrupted;
    ended_ = outcome_.interrupted || (status == run::Status::failed && stop_at_failure_);
  }

  Session& session_;
  const SweepHooks& hooks_;
  const bool stop_at_failure_;
  const std::optional<plan::Precision> precision_;
  const std::vector<Json> before_;  // the ledger's records when it began
  Ceilings ceilings_;
  FirstPageCaches page_caches_;
  int order_;
  SweepOutcome outcome_;
  bool ended_ = false;
};

}  // namespace

bool stood_still(const ledger::Record& record) {
  return std::ranges::any_of(
      record.flags, [](const judge::Flag& flag) { return flag.name == judge::kStoppedFlag; });
}

SweepOutcome run_sweep(Session& session, const std::vector<plan::PlannedRun>& plan,
                       const SweepHooks& hooks, bool stop_at_failure,
                       const std::optional<plan::Precision>& precision) {
  return Sweep(session, hooks, stop_at_failure, precision).run(plan);
}

}  // namespace feedrate::session
