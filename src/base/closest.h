#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate {

// The candidate that a mistyped word most likely meant: the fewest letters inserted, left out,
// replaced, or swapped with their neighbour (optimal string alignment, Damerau 1964 and Levenshtein
// 1966), at most a third of the word's, one at least; or one that begins with the whole word, which
// has three letters or more. Nothing where none is that near, or two are alike near. Thread-safe.
std::optional<std::string> closest(std::string_view typed,
                                   const std::vector<std::string>& candidates);

// "did you mean NAME?", or empty.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

// Suggests a folder beside `missing` with a similar name, or nothing.
std::string did_you_mean_folder(const std::filesystem::path& missing);

}  // namespace feedrate
