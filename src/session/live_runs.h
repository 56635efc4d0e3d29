#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ledger/record.h"
#include "plan/cell.h"
#include "plan/sweep_order.h"
#include "session/session.h"

namespace feedrate::session {

// Runs that are measured one after the other, while a line on stderr says which.
struct LiveRuns {
  std::string title;
  std::function<std::string(const plan::Cell&)> name;
  std::function<void(const ledger::Record&)> add;  // after each run
  // As those of SweepHooks; may be empty.
  std::function<void()> replaced;
  std::function<std::vector<plan::PlannedRun>()> more;

  // False: interrupted.
  bool measure(Session& session, const std::vector<plan::PlannedRun>& plan) const;
};

}  // namespace feedrate::session
