#pragma once
#include <string>

#include "record/record.h"

namespace feedrate::cli {

// A finished run in a few lines for a person: throughput with its interval, share of the ceiling,
// step and waiting times, stages, the verdict, the flags.
std::string result_text(const record::Record& record, const std::string& label);

// The same in one line, for a sweep's log.
std::string result_line(const record::Record& record, const std::string& label);

std::string duration(double seconds);  // "85 s", "12 min", "2.5 h"

}  // namespace feedrate::cli
