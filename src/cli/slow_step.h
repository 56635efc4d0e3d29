#pragma once
#include <string>

#include "plan/cell.h"
#include "run/rank_task.h"

namespace feedrate::cli {

// What to lower where a step takes so long that the run takes more than a minute: one line, with
// how long it takes. Empty: it is fast enough, nobody knows yet, or nothing can be lowered.
std::string slow_step_text(const run::RunProgress& progress, const plan::Cell& cell,
                           const run::RunLimits& limits);

}  // namespace feedrate::cli
