#pragma once
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/record.h"
#include "plan/sweep_order.h"
#include "run/cell_runner.h"

namespace feedrate::session {

// Callbacks for whoever watches a sweep. All but `progress` and `more` must be set.
struct SweepHooks {
  // Before a run; `number` of `total` that are missing. `ceiling`: the rate of the ceiling that
  // opened its repetition, images/s; none for ceilings, or where that one failed.
  std::function<void(const plan::PlannedRun&, std::size_t number, std::size_t total,
                     std::optional<double> ceiling)>
      started;
  run::ProgressSink progress;
  // After a run; `json` as it was written.
  std::function<void(const ledger::Record& record, const nlohmann::ordered_json& json)> finished;
  // When all runs are done: further ones, carried out next; none end the sweep.
  std::function<std::vector<plan::PlannedRun>()> more;
};

struct SweepOptions {
  run::RunOptions run;
  std::vector<std::string> differences;  // from the ledger's records, see resume.h
  bool stop_at_failure = false;          // else a failed run does not end the sweep
  bool measure_again = false;            // once, a run in which the process or machine stood still
  std::optional<plan::Precision> precision{};  // that was asked for; goes into the records
  std::filesystem::path trace{};  // of the plan's last run, not of its ceiling's; empty: none
};

struct SweepOutcome {
  std::size_t planned = 0;
  std::size_t ok = 0, failed = 0, skipped = 0;  // skipped: already in the ledger
  bool interrupted = false;
};

// Carries out the plan, appending one record after every run. Runs that the ledger already has
// (missing_of()) are skipped. `ledger`: null keeps nothing.
SweepOutcome run_sweep(const std::vector<plan::PlannedRun>& plan, run::CellRunner& runner,
                       const ledger::RecordWriter& writer, ledger::Ledger* ledger,
                       const SweepOptions& options, const SweepHooks& hooks, std::stop_token stop);

}  // namespace feedrate::session
