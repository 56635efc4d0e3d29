#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/advice.h"
#include "diagnose/diagnosis.h"
#include "plan/cell.h"
#include "record/rounds_file.h"

namespace feedrate::record {

inline constexpr std::string_view kDiagnosisSchema = "feedrate.diagnosis/1";

// What a diagnosis is of, and what its rounds showed beside their evidence.
struct DiagnosisOf {
  plan::Cell cell;
  std::string device;
  double seconds = 0;  // that it took; 0: nothing was measured
  SeenInRounds seen{};
  std::vector<diagnose::Remedy> advice{};
};

// DIR/diagnosis.json, which the report draws; docs/columns.md explains every field.
nlohmann::ordered_json diagnosis_json(const DiagnosisOf& of, const diagnose::Evidence& evidence,
                                      const diagnose::Diagnosis& diagnosis);

nlohmann::ordered_json seen_flags_json(const std::map<std::string, SeenFlag>& flags);

// Throws std::invalid_argument.
diagnose::Rung rung_from(const std::string& name);

// One round as DIR/rounds.jsonl has it, and back. Reading throws the JSON library's exceptions.
nlohmann::ordered_json round_json(const diagnose::RoundEvidence& round);
diagnose::RoundEvidence round_from(const nlohmann::ordered_json& json);

}  // namespace feedrate::record
