#include <fstream>
#include <string>

#include "record/ledger.h"
#include "record/plan_file.h"
#include "record/record.h"
#include "record/record_json.h"
#include "record/seal.h"
#include "tests/validation/validation.h"

namespace feedrate::tests {

void seal_again(const std::filesystem::path& folder) {
  record::LedgerText ledger = record::read_ledger(folder / "ledger.jsonl");
  std::ofstream file(folder / "ledger.jsonl", std::ios::binary | std::ios::trunc);
  std::string previous;
  for (auto& record : ledger.records) {
    if (record["schema"] == record::kResultSchema) record::seal(record, previous);
    const std::string line = record::to_line(record);
    previous = record::line_xxh3(line);
    file << line << "\n";
  }
  if (const auto end = record::read_end(folder))
    record::keep_end(folder, {ledger.records.size(), previous, end->whole});
}

}  // namespace feedrate::tests
