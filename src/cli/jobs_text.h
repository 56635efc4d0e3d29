#pragma once
#include <string>
#include <vector>

#include "cli/jobs_run.h"

namespace feedrate::cli {

// What `feedrate jobs` prints: each job's rate alone and together, how fairly the jobs share, and
// what must not be quoted. Of several repetitions the means, and from three on their intervals.
std::string jobs_text(const std::vector<PlannedJob>& jobs, const JobsOutcome& outcome);

}  // namespace feedrate::cli
