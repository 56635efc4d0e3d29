#pragma once
#include <string>
#include <vector>

#include "session/jobs_run.h"

namespace feedrate::text {

// What `feedrate jobs` prints, after first_lines() of all its runs: each job's rate alone and
// together, how fairly the jobs share, and what must not be quoted. Of several repetitions the
// means, and from three on their intervals.
std::string jobs_text(const std::vector<session::PlannedJob>& jobs,
                      const session::JobsOutcome& outcome);

}  // namespace feedrate::text
