#pragma once
#include <string>

#include "diagnose/diagnosis.h"
#include "record/diagnosis_json.h"

namespace feedrate::cli {

// A diagnosis for a person: the verdict, the ladder with what each step down it costs, what delays
// cost, the capacities, patterns, advice.
std::string diagnosis_text(const record::DiagnosisOf& of, const diagnose::Evidence& evidence,
                           const diagnose::Diagnosis& diagnosis);

// Prints that, or one line of JSON.
void print_diagnosis(bool as_json, const record::DiagnosisOf& of,
                     const diagnose::Evidence& evidence, const diagnose::Diagnosis& diagnosis);

}  // namespace feedrate::cli
