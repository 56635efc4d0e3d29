#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "judge/advice.h"
#include "judge/diagnosis.h"
#include "ledger/rounds_file.h"
#include "plan/cell.h"

namespace feedrate::ledger {

inline constexpr std::string_view kDiagnosisSchema = "feedrate.diagnosis/1";

// What a diagnosis is of, and what its rounds showed beside their evidence.
struct DiagnosisOf {
  plan::Cell cell;
  std::string device;
  double seconds = 0;  // that it took; 0: nothing was measured
  SeenInRounds seen{};
  std::vector<judge::Remedy> advice{};
  int interrupted_of = 0;  // how many rounds were planned, where a signal came before the last one
};

// DIR/diagnosis.json, which the report draws; docs/columns.md explains every field.
nlohmann::ordered_json diagnosis_json(const DiagnosisOf& of, const judge::Evidence& evidence,
                                      const judge::Diagnosis& diagnosis);

nlohmann::ordered_json raised_flags_json(const std::vector<judge::RaisedFlag>& raised);

// Throws std::invalid_argument.
judge::LadderRung rung_from(const std::string& name);

// One round as DIR/rounds.jsonl has it, and back. Reading throws the JSON library's exceptions.
nlohmann::ordered_json round_json(const judge::RoundEvidence& round);
judge::RoundEvidence round_from(const nlohmann::ordered_json& json);

}  // namespace feedrate::ledger
