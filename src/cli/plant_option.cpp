#include "cli/plant_option.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "base/error.h"
#include "base/text.h"

namespace feedrate::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("--plant " + text, "is not WHERE=MS",
                   "use read, decode, augment, collate, copy, step or all-reduce, as in "
                   "decode=1.5 or decode=1.5:burn");
}

std::int64_t nanoseconds(const std::string& text, const std::string& ms) {
  const auto value = number_from<double>(ms);
  if (!value || !(*value >= 0 && *value <= 1e5)) refuse(text);
  return std::llround(1e6 * *value);
}

}  // namespace

void add_plant_option(CLI::App& command, std::vector<std::string>& plants) {
  command.add_option("--plant", plants, "")->group("");
}

void plant(const std::vector<std::string>& plants, run::RunOptions& options) {
  static const std::regex kForm("([^=]*)=([^:]*)(:burn)?(:spike=([^@]*)@(.*))?");
  for (const std::string& text : plants) {
    std::smatch parts;
    if (!std::regex_match(text, parts, kForm)) refuse(text);
    const std::string where = parts[1];
    const bool burns = parts[3].matched, has_spikes = parts[4].matched;
    const std::int64_t ns = nanoseconds(text, parts[2]);
    const auto stage = std::ranges::find(measure::kStageNames, where);
    const auto place = std::ranges::find(measure::kPlaceNames, where);
    options.plant = true;
    if (stage != measure::kStageNames.end() && where != "lock") {
      auto& planted =
          options.planted[static_cast<std::size_t>(stage - measure::kStageNames.begin())];
      planted.ns = ns;
      planted.burns = burns;
      if (!has_spikes) continue;
      planted.spike_ns = nanoseconds(text, parts[5]);
      planted.every = number_from<std::int64_t>(parts[6].str()).value_or(0);
      if (planted.every < 1) refuse(text);
    } else if (place != measure::kPlaceNames.end() && where != "worker" && where != "storage" &&
               where != "reads in flight" && !burns && !has_spikes) {
      options.planted_delays[static_cast<std::size_t>(place - measure::kPlaceNames.begin())] = ns;
    } else {
      refuse(text);
    }
  }
}

}  // namespace feedrate::cli
