#pragma once
#include <stop_token>
#include <vector>

#include "run/rank.h"

namespace feedrate::run {

// Runs all ranks of a task as threads of this process. Rethrows the first failure: the others fail
// only because of it.
std::vector<RankResult> run_rank_threads(const RankTask& task, std::stop_token stop);

}  // namespace feedrate::run
