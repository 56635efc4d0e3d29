#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate {

// Small readings of /proc and /sys. Whatever cannot be read is empty.
std::string first_line(const std::filesystem::path& path);
std::string value_in(const std::filesystem::path& path,
                     const std::string& key);              // of "key : value" lines
std::string chosen_in(const std::filesystem::path& path);  // "always [madvise] never" -> "madvise"
std::string link_name(const std::filesystem::path& link);  // last part of what it points to

// The entries of a folder whose names begin with `prefix` and a digit, sorted; all entries if
// `prefix` is empty.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder,
                                           const std::string& prefix);

}  // namespace feedrate
