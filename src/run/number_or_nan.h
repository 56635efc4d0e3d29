#pragma once
#include <limits>
#include <nlohmann/json.hpp>

namespace feedrate::run {

// A number that travelled as JSON, which writes NaN as null. Throws a std::exception for anything
// else.
inline double number_or_nan(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

}  // namespace feedrate::run
