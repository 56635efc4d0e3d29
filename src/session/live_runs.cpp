#include "session/live_runs.h"

#include <cstddef>
#include <optional>

#include "session/sweep.h"

namespace feedrate::session {

bool LiveRuns::measure(Session& session, const std::vector<plan::PlannedRun>& plan) const {
  Watcher& watcher = session.watcher();
  std::string label;
  const SweepHooks hooks{
      .started =
          [&](const plan::PlannedRun& run, std::size_t, std::size_t, std::optional<double>) {
            label = title + " · " + name(run.cell);
            watcher.shows(label);
          },
      .progress = [&](const run::RunProgress& p) { watcher.shows(label, p); },
      .finished = [&](const ledger::Record& record, const nlohmann::ordered_json&) { add(record); },
      .replaced = replaced,
      .more = more};
  const SweepOutcome outcome = run_sweep(session, plan, hooks, /*stop_at_failure=*/false);
  watcher.shows_nothing();
  return !outcome.interrupted;
}

}  // namespace feedrate::session
