#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::cli {

// The Python package that draws: beside the installed program, else in the source tree it was built
// from. Throws an Error with the remedy if it is in neither place.
std::filesystem::path report_package();

// The interpreter with matplotlib: $FEEDRATE_PYTHON, else the one that scripts/bootstrap set up,
// else python3 of the PATH.
std::string report_python();

// Replaces this process by Python, so that the exit code, signals and output are Python's.
[[noreturn]] void become_report(const std::vector<std::string>& words);

}  // namespace feedrate::cli
