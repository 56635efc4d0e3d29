#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "session/session.h"

namespace feedrate::session {

// Callbacks for whoever watches a sweep. `finished` must be set.
struct SweepHooks {
  // Before a run; `number` of `total` that are missing. `ceiling`: the rate of the ceiling that
  // opened its repetition, images/s; none for ceilings, or where that one failed.
  std::function<void(const plan::PlannedRun&, std::size_t number, std::size_t total,
                     std::optional<double> ceiling)>
      started = [](const auto&...) {};
  run::ProgressSink progress;
  // After a run; `json` as it was written.
  std::function<void(const ledger::Record& record, const nlohmann::ordered_json& json)> finished;
  // Before `finished` of a run that was measured again, as the one before it stood still: that one
  // counts no longer. Not called where the second one failed, or was interrupted. May be empty.
  std::function<void()> replaced{};
  // When all runs are done: further ones, carried out next; none end the sweep.
  std::function<std::vector<plan::PlannedRun>()> more;
};

// Whether the process or the machine stood still in that run.
bool stood_still(const ledger::Record& record);

struct SweepOutcome {
  std::size_t planned = 0;
  std::size_t ok = 0, failed = 0, skipped = 0;  // skipped: already in the ledger
  bool interrupted = false;
};

// Carries out the plan, which it writes to plan.json, and adds one record to the ledger after every
// run. Runs that the ledger already has (missing_of()) are skipped. `stop_at_failure`: a failed run
// ends the sweep; else it goes on, and measures a run in which the process or machine stood still
// once again. `precision`: what was asked for; goes into the records.
SweepOutcome run_sweep(Session& session, const std::vector<plan::PlannedRun>& plan,
                       const SweepHooks& hooks, bool stop_at_failure,
                       const std::optional<plan::Precision>& precision = {});

}  // namespace feedrate::session
