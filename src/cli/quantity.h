#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>

namespace feedrate::cli {

using Units = std::map<std::string, double>;

// An option that takes a number above 0 with its unit, "2%"; `value` is in the unit of the map's
// values. `otherwise`: what the error says of anything else, and of more than `most`.
CLI::Option* add_quantity(CLI::App& app, const std::string& name, std::optional<double>& value,
                          const Units& units, double most, const char* otherwise,
                          const std::string& help);

// The same of a time in seconds: "90s", "30m", "2h", "90".
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds,
                          const std::string& help);

}  // namespace feedrate::cli
