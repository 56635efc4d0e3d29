#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace feedrate::machine {

std::string_view version();  // "0.1.0"
std::string_view
git_commit();  // of the build's source tree, "-dirty" appended; "unknown" outside git

std::string binary_hash();  // XXH3-64 of the program's file and its modules', 16 hex digits; empty
                            // if unreadable

// The machine and the program, as far as a result depends on them, and the command line. `data`
// (may be empty): the folder whose file system is described. `config` (may be empty): a file whose
// text is kept. Reads /proc and /sys; never fails; what it cannot read is an empty string.
nlohmann::ordered_json capture_environment(const std::filesystem::path& data,
                                           const std::filesystem::path& config = {});

}  // namespace feedrate::machine
