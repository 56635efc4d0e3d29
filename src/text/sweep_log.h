#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/sweep_order.h"
#include "session/experiment_options.h"
#include "session/precise_sweep.h"
#include "session/sweep.h"
#include "text/shown_run.h"
#include "text/sweep_summary.h"
#include "text/sweep_table.h"
#include "text/time_left.h"

namespace feedrate::text {

// Prints what `sweep --dry-run` answers: a line for each run, how many they are, and on which
// emulated devices. `plan`: of `cells`, what is to be measured.
void print_plan(const std::vector<plan::PlannedRun>& plan, const std::vector<plan::Cell>& cells,
                const run::RunLimits& limits, const session::PrecisionOptions& precision);

// What a person sees of a sweep: stderr for the log and the live line, stdout for records, where
// they are asked for. On a terminal the log is a table that fills, elsewhere (and with --verbose) a
// line for each run.
class SweepLog {
 public:
  // Both outlive it.
  SweepLog(const session::Session& session, const session::PrecisionOptions& precision,
           bool prints_json);

  // Says what of the plan, of `cells`, is going to be measured, and on which emulated devices. The
  // lines that follow name the device where the cells differ in it.
  void begin(const std::vector<plan::PlannedRun>& plan, const std::vector<plan::Cell>& cells);
  session::SweepHooks hooks();
  // Says what has become of it, after the caveats of the ledger's runs, and how to go on: to those
  // who want no progress as well, unless all went well. The others hear what the ledger comes to,
  // and what is next.
  void end(const session::SweepOutcome& outcome) const;

 private:
  void start(const plan::PlannedRun& run, std::size_t number, std::size_t total,
             std::optional<double> ceiling);
  void finish(const ledger::Record& record, const nlohmann::ordered_json& json);
  void say_interrupted(const session::SweepOutcome& outcome) const;
  std::string eta();

  const session::Session& session_;
  const session::ExperimentOptions& experiment_;
  const session::PrecisionOptions& precision_;
  const bool prints_json_, is_table_;
  const bool grows_;  // nobody knows yet how many repetitions there will be
  bool names_devices_ = false;
  ShownRun run_;
  std::optional<SweepTable> table_;
  std::size_t number_ = 0;
  std::vector<plan::Cell> cells_;
  SweepSummary end_;
  TimeLeft time_left_;
};

}  // namespace feedrate::text
