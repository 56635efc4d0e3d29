#include "cli/live_runs.h"

#include <cstddef>
#include <optional>

#include "cli/progress.h"

namespace feedrate::cli {

bool LiveRuns::measure(Measuring& measuring, const std::vector<plan::PlannedRun>& plan) const {
  ProgressLine line;
  std::string label;
  const record::SweepHooks hooks{
      .started =
          [&](const plan::PlannedRun& run, std::size_t, std::size_t, std::optional<double>) {
            label = title + " · " + name(run.cell);
            line.show(label);
          },
      .progress = [&](const run::RunProgress& p) { line.show(label, describe(p, std::nullopt)); },
      .finished = add,
      .more = more};
  const record::SweepOutcome outcome = measuring.run(plan, hooks, /*stop_at_failure=*/false);
  line.clear();
  return !outcome.interrupted;
}

}  // namespace feedrate::cli
