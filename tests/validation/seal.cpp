#include <fstream>
#include <string>

#include "ledger/ledger.h"
#include "ledger/plan_file.h"
#include "ledger/record.h"
#include "ledger/record_json.h"
#include "ledger/seal.h"
#include "tests/validation/validation.h"

namespace feedrate::tests {

void seal_again(const std::filesystem::path& folder) {
  ledger::LedgerText ledger = ledger::read_ledger(folder / "ledger.jsonl");
  std::ofstream file(folder / "ledger.jsonl", std::ios::binary | std::ios::trunc);
  std::string previous;
  for (auto& record : ledger.records) {
    if (record["schema"] == ledger::kResultSchema) ledger::seal(record, previous);
    const std::string line = ledger::to_line(record);
    previous = ledger::line_xxh3(line);
    file << line << "\n";
  }
  if (const auto end = ledger::read_end(folder))
    ledger::keep_end(folder, {ledger.records.size(), previous, end->whole});
}

}  // namespace feedrate::tests
