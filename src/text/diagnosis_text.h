#pragma once
#include "session/decoder_comparison.h"
#include "session/diagnosis_session.h"

namespace feedrate::text {

// Prints a diagnosis as text, or as one line of JSON.
void print_diagnosis(bool as_json, const session::DiagnosisAnswer& answer);

// Prints, below it, what the cell's loader reached alone with two decoders.
void print_decoder_rates(const plan::Cell& cell, const session::DecoderRates& rates);

}  // namespace feedrate::text
