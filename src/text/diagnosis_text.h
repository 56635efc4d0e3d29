#pragma once
#include "session/diagnosis_session.h"

namespace feedrate::text {

// Prints a diagnosis as text, or as one line of JSON.
void print_diagnosis(bool as_json, const session::DiagnosisAnswer& answer);

}  // namespace feedrate::text
