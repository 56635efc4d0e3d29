#pragma once
#include <string>

#include "session/decoder_comparison.h"
#include "session/diagnosis_session.h"

namespace feedrate::text {

// Prints a diagnosis as text, or as one line of JSON.
void print_diagnosis(bool as_json, const session::DiagnosisAnswer& answer);

// What was measured of a first round that was interrupted, in two lines, and that it may not be
// quoted.
std::string first_round_text(const session::FirstRoundSoFar& measured);

// Prints, below a diagnosis, what the cell's loader reached alone with two decoders.
void print_decoder_rates(const plan::Cell& cell, const session::DecoderRates& rates);

}  // namespace feedrate::text
