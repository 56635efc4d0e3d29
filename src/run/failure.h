#pragma once
#include <string>

namespace feedrate::run {

// The exception that is being handled, as a cell's error: one line with a remedy.
std::string failure_text();

// "PATH: stalled: WHAT for 6.1 s; ..." where storage has kept a thread for more than `most`
// seconds; else empty.
std::string stall_text(const std::string& path, const std::string& what, double seconds,
                       double most);

}  // namespace feedrate::run
