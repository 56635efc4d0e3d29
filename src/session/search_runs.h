#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ledger/record.h"
#include "plan/sweep_order.h"
#include "session/search_windows.h"
#include "session/session.h"

namespace feedrate::session {

// Runs of `feedrate capacity` in one sweep, of which each follows from those before it. What does
// not count is measured again, see SearchWindows::why_again(). The callbacks must be set; they are
// called by the thread that measures.
struct SearchRuns {
  std::function<std::vector<plan::PlannedRun>()> next;  // the run to measure now; empty: it is over
  std::function<std::string()> label;                   // of that run, for who watches
  // Of a run that has a measurement, and counts: what it gave, for who watches.
  std::function<std::string(const ledger::Record&)> add;

  // False: interrupted. Throws a std::runtime_error with the line of a run that failed, which ends
  // it.
  bool measure(Session& session, SearchWindows& windows) const;
};

}  // namespace feedrate::session
