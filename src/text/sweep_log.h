#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/sweep_order.h"
#include "session/experiment_options.h"
#include "session/precise_sweep.h"
#include "session/sweep.h"
#include "text/shown_run.h"
#include "text/sweep_table.h"

namespace feedrate::text {

// "24 runs (10 cells, 2 ceilings, 2 repetitions), at least 3 min"
std::string sweep_summary(const std::vector<plan::PlannedRun>& plan, const run::RunLimits& limits,
                          const session::PrecisionOptions& precision);

// One line a run: its number, repetition, role and cell.
std::string plan_text(const std::vector<plan::PlannedRun>& plan);

// A line for each reason; empty if all cells are in pairs with their ceilings.
std::string not_in_pairs(const std::vector<plan::Cell>& cells);

// What a person sees of a sweep: stderr for the log and the live line, stdout for records, where
// they are asked for. On a terminal the log is a table that fills, elsewhere (and with --verbose) a
// line for each run.
class SweepLog {
 public:
  // `grows`: nobody knows yet how many repetitions there will be. `experiment` outlives it.
  SweepLog(const session::ExperimentOptions& experiment, bool prints_json, bool grows);

  session::SweepHooks hooks();

  // "2 must not be quoted (!): harness_bound"; empty where there is none.
  std::string not_to_be_quoted() const;

 private:
  void note(const ledger::Record& record);
  void start(const plan::PlannedRun& run, std::size_t number, std::size_t total,
             std::optional<double> ceiling);
  void finish(const ledger::Record& record, const nlohmann::ordered_json& json);
  std::string eta() const;

  const session::ExperimentOptions& experiment_;
  const bool prints_json_, grows_, is_table_;
  ShownRun run_;
  std::optional<SweepTable> table_;
  std::size_t number_ = 0, left_ = 0, done_ = 0, serious_runs_ = 0;
  std::set<std::string> serious_flags_;
  const std::int64_t start_ns_;
};

}  // namespace feedrate::text
