#include "record/sweep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "plan/expand.h"
#include "record/measurement_json.h"
#include "record/resume.h"

namespace feedrate::record {
namespace {

using Json = nlohmann::ordered_json;

// The ceilings that open each repetition.
class Ceilings {
 public:
  explicit Ceilings(const std::vector<Json>& records) {
    for (const Json& record : records) {
      const bool opens = record["cell"]["data"] == "synthetic" && record.value("place", 0) == 0;
      if (opens && record["status"] == "ok")
        opening_[{record["cell_id"], record["repetition"]}] = as_ceiling(record);
    }
  }
  void add(const Record& record) {
    const plan::PlannedRun& run = record.context.run;
    if (run.role != plan::Role::opening_ceiling || !record.result.measurement) return;
    const run::Measurement& m = *record.result.measurement;
    opening_[{run.cell.id(), run.repetition}] = {m.imgs_per_s, m.device_rate};
  }
  // Of the repetition that the run is part of; nothing where that ceiling has failed, or is the run
  // itself.
  std::optional<diagnose::Ceiling> of(const plan::PlannedRun& run) const {
    const auto found = opening_.find({plan::ceiling_of(run.cell).id(), run.repetition});
    const bool is_missing = found == opening_.end() || run.role == plan::Role::opening_ceiling;
    return is_missing ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::pair<std::string, int>, diagnose::Ceiling> opening_;  // by cell_id and repetition
};

// How much of each cell's files lay in the page cache when its first repetition began.
class FirstPageCaches {
 public:
  explicit FirstPageCaches(const std::vector<Json>& records) {
    for (const Json& record : records) {
      const Json& dataset = record["dataset"];
      if (record["status"] == "ok" && dataset.is_object())
        keep(record["cell_id"], dataset.value("page_cache_before", -1.0));
    }
  }
  void add(const Record& record) {
    if (const auto& m = record.result.measurement)
      keep(record.context.run.cell.id(), m->page_cache.before);
  }
  std::optional<double> of(const plan::Cell& cell) const {
    const auto found = first_.find(cell.id());
    return found == first_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void keep(const std::string& cell, double share) {
    if (share >= 0) first_.emplace(cell, share);
  }
  std::map<std::string, double> first_;  // by cell_id
};

bool stood_still(const Record& record) {
  return std::ranges::any_of(record.flags,
                             [](const Flag& flag) { return flag.name == kStoppedFlag; });
}

}  // namespace

SweepOutcome run_sweep(const std::vector<plan::PlannedRun>& plan, run::CellRunner& runner,
                       const RecordWriter& writer, Ledger* ledger, const SweepOptions& options,
                       const SweepHooks& hooks, std::stop_token stop) {
  const std::vector<Json> before = ledger ? ledger->records() : std::vector<Json>{};
  const std::vector<plan::PlannedRun> missing = missing_of(plan, before);
  Ceilings ceilings(before);
  FirstPageCaches page_caches(before);
  SweepOutcome outcome{.skipped = plan.size() - missing.size()};
  auto order = static_cast<int>(before.size());
  bool again = false;
  for (std::size_t i = 0; i < missing.size() && !outcome.interrupted; i += again ? 0 : 1) {
    if (stop.stop_requested()) {
      outcome.interrupted = true;
      break;
    }
    const plan::PlannedRun& run = missing[i];
    const auto ceiling = ceilings.of(run);
    hooks.started(run, i + 1, missing.size(),
                  run.role == plan::Role::cell && ceiling ? std::optional(ceiling->imgs_per_s)
                                                          : std::nullopt);
    run::CellResult result = runner.run(run.cell, hooks.progress, stop);
    std::vector<std::string> differences = options.differences;
    std::ranges::move(device_differences(before, result), std::back_inserter(differences));
    const Record record =
        make_record(std::move(result),
                    {run, order++, ceiling, page_caches.of(run.cell), std::move(differences)},
                    options.run, writer.anonymizer());
    const Json json = writer.json_of(record);
    hooks.finished(record, ledger ? ledger->append(json) : json);
    ceilings.add(record);
    page_caches.add(record);
    again = options.measure_again && !again && stood_still(record);
    if (again) continue;
    const run::Status status = record.result.status;
    outcome.interrupted = status == run::Status::interrupted;
    if (status == run::Status::ok) ++outcome.ok;
    if (status == run::Status::failed) ++outcome.failed;
    if (status == run::Status::failed && options.stop_at_failure) break;
  }
  return outcome;
}

}  // namespace feedrate::record
