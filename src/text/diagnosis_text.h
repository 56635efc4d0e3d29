#pragma once
#include <string>

#include "judge/diagnosis.h"
#include "ledger/diagnosis_json.h"
#include "plan/cell.h"

namespace feedrate::text {

// A diagnosis for a person: the verdict, the ladder with what each step down it costs, what delays
// cost, the capacities, patterns, advice.
std::string diagnosis_text(const ledger::DiagnosisOf& of, const judge::Evidence& evidence,
                           const judge::Diagnosis& diagnosis);

// Prints the diagnosis as text, or as one line of JSON.
void print_diagnosis(bool as_json, const ledger::DiagnosisOf& of, const judge::Evidence& evidence,
                     const judge::Diagnosis& diagnosis);

}  // namespace feedrate::text
