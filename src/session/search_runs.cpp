#include "session/search_runs.h"

#include <cstddef>
#include <optional>
#include <stdexcept>

#include "session/sweep.h"

namespace feedrate::session {

bool SearchRuns::measure(Session& session, SearchWindows& windows) const {
  const auto first = next();
  if (first.empty()) return true;
  Watcher& watcher = session.watcher();
  std::string failed;
  bool has_one_gpu = false;
  const auto finish = [&](const ledger::Record& record) {
    watcher.shows_nothing();
    const run::CellResult& result = record.result;
    if (result.status == run::Status::failed) failed = result.error;
    if (!result.measurement) return;
    const std::string why_again = windows.why_again(record);
    watcher.logs(label() + ": " + (why_again.empty() ? add(record) : why_again));
  };
  const SweepHooks hooks{
      .started =
          [&](const plan::PlannedRun& run, std::size_t, std::size_t, std::optional<double>) {
            has_one_gpu = run.cell.is("gpus", "1");
            watcher.shows(label() + ": preparing");
          },
      .progress =
          [&](const run::RunProgress& p) {
            run::RunProgress shown = p;
            if (!has_one_gpu) shown.device_idle = -1;  // the first GPU's, which is not all of them
            watcher.shows(label(), shown);
          },
      .finished = [&](const ledger::Record& record,
                      const nlohmann::ordered_json&) { finish(record); },
      .more = next};
  const SweepOutcome outcome = run_sweep(session, first, hooks, /*stop_at_failure=*/true);
  watcher.shows_nothing();
  if (!failed.empty()) throw std::runtime_error(failed);
  return !outcome.interrupted;
}

}  // namespace feedrate::session
