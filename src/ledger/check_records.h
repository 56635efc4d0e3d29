#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::ledger {

struct RecordFinding {
  std::size_t line;  // from 1
  std::string words;
};

// Derives again what only this program can derive from a ledger's records: each cell_id from its
// axes, checksums from the lines, an emulated device's step from its rate, capacities and verdict
// from the stages. Skips lines that are not records.
struct CheckedRecords {
  std::vector<RecordFinding> findings;
  std::size_t unsealed = 0;  // records of a schema that had no checksums
};
CheckedRecords check_records(const std::filesystem::path& ledger);

}  // namespace feedrate::ledger
