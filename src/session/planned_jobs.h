#pragma once
#include <vector>

#include "session/experiment_options.h"
#include "session/jobs_run.h"

namespace feedrate::session {

// Each cell of each group, `copies` times. Jobs are alike whose records are of one cell, however it
// was typed, and of one dataset. Throws a UsageError where jobs cannot be measured together.
std::vector<PlannedJob> plan_jobs(const std::vector<CellGroup>& groups, int copies);

}  // namespace feedrate::session
