#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace feedrate {

std::string_view version();     // "0.1.0"
std::string_view git_commit();  // of the build's source tree, "-dirty" appended; "unknown" outside git

// The machine and the program, as far as a result depends on them. `data` (may be empty): the folder
// whose file system is described. Reads /proc and /sys; never fails; what it cannot read is an empty string.
nlohmann::ordered_json capture_environment(const std::filesystem::path& data);

}  // namespace feedrate
