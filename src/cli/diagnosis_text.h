#pragma once
#include <map>
#include <string>

#include "diagnose/diagnosis.h"

namespace feedrate::cli {

// A diagnosis for a person: the verdict, the ladder with what each step down it costs, what delays
// cost, the capacities.
std::string diagnosis_text(const diagnose::Evidence& evidence, const diagnose::Diagnosis& diagnosis,
                           const std::map<diagnose::Rung, std::string>& left_out);

}  // namespace feedrate::cli
