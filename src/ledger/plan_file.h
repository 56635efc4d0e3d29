#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/sweep_order.h"

namespace feedrate::ledger {

// DIR/plan.json beside the ledger: the runs that the folder's sweeps planned, so that a sweep that
// was stopped shows what is missing. Adds the runs that are not in it yet. `records`: how many the
// ledger holds; with none the file begins anew. The file is replaced as a whole. Throws an Error
// naming the path and the reason. `command`: what was typed behind the program's name, as records
// have it; it stays with the runs that it adds.
void keep_plan(const std::filesystem::path& folder, const std::vector<plan::PlannedRun>& plan,
               std::size_t records, const std::vector<std::string>& command = {});

// The command of the last of the folder's sweeps that planned a run which these records, its
// ledger's, lack (missing_of()); of the last sweep where they lack none. Empty: no plan is there,
// or it does not say how it came about.
std::vector<std::string> planned_command(const std::filesystem::path& folder,
                                         const std::vector<nlohmann::ordered_json>& records);

// The ids of the cells, and of no ceilings, that the folder's sweeps planned for a repetition.
std::set<std::string> planned_cells(const std::filesystem::path& folder, int repetition);

// What the folder's last sweep wrote when it ended by itself. Without it, records that somebody
// took off the ledger's end would look like a sweep that was stopped.
struct SweepEnd {
  std::size_t records = 0;
  std::string last_xxh3;  // of the last record's line
  bool whole =
      true;  // every planned run was carried out; not after an interrupt, or a failed `run`
};
void keep_end(const std::filesystem::path& folder, const SweepEnd& end);
// Nothing where the last sweep was killed, or is under way.
std::optional<SweepEnd> read_end(const std::filesystem::path& folder);

}  // namespace feedrate::ledger
