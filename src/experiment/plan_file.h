#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/sweep.h"

namespace feedrate {

// DIR/plan.json beside the ledger: what the folder's sweeps set out to measure, so that a sweep that was stopped shows
// what it did not come to. Adds the runs that are not in it yet; `records`: how many the ledger holds by now, and with none
// the file begins anew. It is always whole: the new one takes the old one's place. Throws an Error naming the path and the reason.
void keep_plan(const std::filesystem::path& folder, const std::vector<PlannedRun>& plan, std::size_t records);

// What the folder's last sweep left behind when it ended by itself: without it, records taken off
// the ledger's end would look like a sweep that was stopped.
struct SweepEnd {
  std::size_t records = 0;
  std::string last_xxh3;  // of the last record's line
};
void keep_end(const std::filesystem::path& folder, const SweepEnd& end);
std::optional<SweepEnd> read_end(
    const std::filesystem::path& folder);  // none where the last sweep was killed, or is under way

}  // namespace feedrate
