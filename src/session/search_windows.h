#pragma once
#include <map>
#include <string>

#include "ledger/record.h"
#include "plan/cell.h"
#include "run/measurement.h"
#include "session/capacity_search.h"

namespace feedrate::session {

// The longest windows of a search's runs, long enough for kWantedSteps of a slow storage. A cold
// run lasts as long as it may, so no window is long in case the storage is slow: where nothing is
// known yet, the first run has the usual window, and is a trial if that held too few steps.
//
// One thread.
class SearchWindows {
 public:
  SearchWindows(const run::RunLimits& limits, const SearchOptions& options)
      : limits_(limits), options_(options) {}

  // Seconds, of the cell's next run. `imgs_per_s`: the most that the storage gave so far; 0: not
  // known. `least_step_s`: what a step takes of the device. All runs of a cell that count have the
  // same window.
  double longest_s(const plan::Cell& cell, double imgs_per_s, double least_step_s);

  // Whether the run that has ended, of that cell, says only how long steps take: it does not count,
  // and is to be measured again. That is one run at most, the first.
  bool is_trial(const plan::Cell& cell, const run::Measurement& m);

  // Why the run that has ended, which has a measurement, does not count and is to be measured
  // again: it was a trial, or stood still, as three of a search may. Empty: it counts.
  std::string why_again(const ledger::Record& record);

  // Runs of the cell that have ended with a measurement, those that do not count included.
  int runs_of(const plan::Cell& cell) const;

 private:
  const run::RunLimits limits_;
  const SearchOptions options_;
  bool is_blind_ = false;  // nothing was known of the storage when the run was planned
  bool had_trial_ = false;
  double trial_imgs_per_s_ = 0;
  int stopped_runs_ = 0;
  std::map<std::string, double> windows_s_;  // by cell_id
  std::map<std::string, int> runs_;          // the same
};

}  // namespace feedrate::session
