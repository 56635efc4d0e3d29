#pragma once
#include <string>

#include "diagnose/diagnosis.h"
#include "plan/cell.h"
#include "record/diagnosis_json.h"

namespace feedrate::cli {

// A diagnosis for a person: the verdict, the ladder with what each step down it costs, what delays
// cost, the capacities, patterns, advice.
std::string diagnosis_text(const record::DiagnosisOf& of, const diagnose::Evidence& evidence,
                           const diagnose::Diagnosis& diagnosis);

// After the first ladder, on a CPU that does nothing but train while the loader waits: what a
// faster device would wait for cannot show beside such steps. Else empty.
std::string busy_cpu_text(const plan::Cell& cell, const diagnose::RoundEvidence& round);

// Prints the diagnosis as text, or as one line of JSON.
void print_diagnosis(bool as_json, const record::DiagnosisOf& of,
                     const diagnose::Evidence& evidence, const diagnose::Diagnosis& diagnosis);

}  // namespace feedrate::cli
