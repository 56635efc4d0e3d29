#pragma once
#include <optional>
#include <vector>

#include "plan/cell.h"
#include "plan/two_stage.h"
#include "session/sweep.h"

namespace feedrate::session {

// How long a sweep goes on: as long as it takes to know each cell as precisely as asked, or as the
// time allows. Neither: a fixed number of repetitions.
struct PrecisionOptions {
  std::optional<double> target;    // see plan::Precision
  std::optional<double> budget_s;  // seconds of the whole sweep
  bool is_asked() const { return target || budget_s; }
  plan::Precision precision(int pilot) const { return {target.value_or(0), pilot}; }
};

// Of a run. Starting its process, opening its files and preparing the cell add to this.
double least_seconds(const run::RunLimits& limits);

// Throws a UsageError where the pilot is too short for an interval, or cannot end in the budget.
void check_precision(const PrecisionOptions& options, int pilot, std::size_t pilot_runs,
                     const run::RunLimits& limits);

// Throws a UsageError where the ledger's records had another pilot: intervals are by the first.
void check_pilot(const ledger::Ledger& ledger, int pilot);

// Measures repetition after repetition, each of the cells whose intervals are still too wide, and
// says before each what is left. Ends where all are met, have failed or are out of reach, or where
// no further run would end within the budget.
SweepOutcome sweep_to_precision(Session& session, const std::vector<plan::Cell>& cells,
                                const PrecisionOptions& options, int pilot, SweepHooks hooks);

}  // namespace feedrate::session
