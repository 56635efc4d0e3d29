#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace feedrate::ranks {

// A text of another process as JSON. Reading it takes time and memory in proportion to its length,
// whatever it holds: values take many times the memory of their text, so too many of them, or too
// deep ones, are refused before any is made. Errors: std::exception, which says what is wrong.
nlohmann::json json_from(const std::string& text);

}  // namespace feedrate::ranks
