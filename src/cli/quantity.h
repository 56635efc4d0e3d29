#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace feedrate::cli {

// Options that take numbers. All refuse what is out of their bounds.

using Units = std::map<std::string, double>;

// A number above 0 with its unit, "2%"; `value` is in the unit of the map's values. `otherwise`:
// what the error says of anything else, and of more than `most`.
CLI::Option* add_quantity(CLI::App& app, const std::string& name, std::optional<double>& value,
                          const Units& units, double most, const char* otherwise,
                          const std::string& help);

// A time in seconds: "90s", "30m", "2h", "90".
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds,
                          const std::string& help);

// A whole number between bounds; --help shows its default.
CLI::Option* add_count(CLI::App& app, const std::string& name, int& value, int least, int most,
                       const std::string& help);

// --repetitions, from 1 to `most`.
CLI::Option* add_repetitions(CLI::App& app, int& repetitions, const std::string& help,
                             int most = 1000);

// --seed, a whole number of at least 0.
void add_seed_option(CLI::App& app, std::uint64_t& seed, const std::string& help);

}  // namespace feedrate::cli
