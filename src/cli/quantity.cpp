#include "cli/quantity.h"

#include <cmath>

namespace feedrate::cli {
namespace {

// "2%", "30m": the number in the unit of the map's values.
std::optional<double> number_with_unit(const std::string& text, const Units& units) {
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const auto unit = units.find(text.substr(end));
  if (unit == units.end() || !(number > 0) || !std::isfinite(number)) return std::nullopt;
  return number * unit->second;
}

// CLI11 takes -1 of an unsigned number for the largest.
std::string refuse_negative(const std::string& typed) {
  return typed.starts_with('-') ? typed + " is not a whole number of at least 0" : "";
}

}  // namespace

CLI::Option* add_quantity(CLI::App& app, const std::string& name, std::optional<double>& value,
                          const Units& units, double most, const char* otherwise,
                          const std::string& help) {
  return app.add_option_function<std::string>(
      name,
      [=, &value](const std::string& text) {
        value = number_with_unit(text, units);
        if (!value || *value > most) throw CLI::ValidationError(name + " " + text, otherwise);
      },
      help);
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds,
                          const std::string& help) {
  return add_quantity(app, name, seconds, {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}},
                      1e9, "must be as 90s, 30m or 2h", help)
      ->type_name("TIME");
}

CLI::Option* add_count(CLI::App& app, const std::string& name, int& value, int least, int most,
                       const std::string& help) {
  return app.add_option(name, value, help)->capture_default_str()->check(CLI::Range(least, most));
}

CLI::Option* add_repetitions(CLI::App& app, int& repetitions, const std::string& help, int most) {
  return add_count(app, "--repetitions", repetitions, 1, most, help);
}

void add_seed_option(CLI::App& app, std::uint64_t& seed, const std::string& help) {
  app.add_option("--seed", seed, help)
      ->capture_default_str()
      ->check(CLI::Validator(refuse_negative, ""));
}

}  // namespace feedrate::cli
