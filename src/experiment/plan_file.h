#pragma once
#include <filesystem>
#include <vector>

#include "experiment/sweep.h"

namespace feedrate {

// DIR/plan.json beside the ledger: what the folder's sweeps set out to measure, so that a sweep that was stopped shows
// what it did not come to. Adds the runs that are not in it yet; `records`: how many the ledger holds by now, and with none
// the file begins anew. It is always whole: the new one takes the old one's place. Throws an Error naming the path and the reason.
void keep_plan(const std::filesystem::path& folder, const std::vector<PlannedRun>& plan, std::size_t records);

}  // namespace feedrate
