#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judge/advice.h"
#include "judge/diagnosis.h"
#include "ledger/diagnosis_json.h"

namespace feedrate::session {

// What a ledger that is there already says of one cell.
struct LedgerEvidence {
  ledger::DiagnosisOf of;
  judge::Evidence evidence;
  judge::DataAndMemory surroundings;  // of the dataset alone
  std::vector<nlohmann::ordered_json> records;
};

// `where`: conditions that leave one cell that reads stored data at each step. LadderRungs that the
// ledger lacks are left out, in DiagnosisOf::seen. Blocks with delays are there if `feedrate
// diagnose` wrote the folder. Throws an Error or a UsageError.
LedgerEvidence evidence_from(const std::filesystem::path& folder,
                             const std::vector<std::string>& where);

}  // namespace feedrate::session
