#pragma once
#include <string>

namespace feedrate::run {

// The exception that is being handled, as a cell's error: one line with a remedy.
std::string failure_text();

}  // namespace feedrate::run
