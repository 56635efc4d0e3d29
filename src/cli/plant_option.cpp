#include "cli/plant_option.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace feedrate::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("--plant " + text, "is not WHERE=MS",
                   "use read, decode, augment, collate, copy, step or all-reduce, as in "
                   "decode=1.5 or decode=1.5:burn");
}

std::int64_t nanoseconds(const std::string& text, std::string_view ms) {
  double value = 0;
  const auto [end, error] = std::from_chars(ms.data(), ms.data() + ms.size(), value);
  if (error != std::errc{} || end != ms.data() + ms.size() || !(value >= 0 && value <= 1e5))
    refuse(text);
  return std::llround(1e6 * value);
}

// "50@16": 50 ms more for every 16th sample.
void add_spikes(const std::string& text, std::string_view spike, pipeline::PlantedStage& planted) {
  const auto at = spike.find('@');
  if (at == std::string_view::npos) refuse(text);
  const std::string_view every = spike.substr(at + 1);
  const auto [end, error] =
      std::from_chars(every.data(), every.data() + every.size(), planted.every);
  if (error != std::errc{} || end != every.data() + every.size() || planted.every < 1) refuse(text);
  planted.spike_ns = nanoseconds(text, spike.substr(0, at));
}

}  // namespace

void add_plant_option(CLI::App& command, std::vector<std::string>& plants) {
  command.add_option("--plant", plants, "")->group("");
}

void plant(const std::vector<std::string>& plants, run::RunOptions& options) {
  for (const std::string& text : plants) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) refuse(text);
    const std::string where = text.substr(0, equals);
    std::string_view ms = std::string_view(text).substr(equals + 1);
    std::optional<std::string_view> spike;
    if (const auto at = ms.find(":spike="); at != std::string_view::npos) {
      spike = ms.substr(at + std::string_view(":spike=").size());
      ms = ms.substr(0, at);
    }
    const bool burns = ms.ends_with(":burn");
    if (burns) ms.remove_suffix(std::string_view(":burn").size());
    const std::int64_t ns = nanoseconds(text, ms);
    const auto stage = std::ranges::find(measure::kStageNames, where);
    const auto place = std::ranges::find(measure::kPlaceNames, where);
    options.plant = true;
    if (stage != measure::kStageNames.end() && where != "lock") {
      auto& planted =
          options.planted[static_cast<std::size_t>(stage - measure::kStageNames.begin())];
      planted.ns = ns;
      planted.burns = burns;
      if (spike) add_spikes(text, *spike, planted);
    } else if (place != measure::kPlaceNames.end() && where != "worker" && where != "storage" &&
               !burns && !spike) {
      options.planted_delays[static_cast<std::size_t>(place - measure::kPlaceNames.begin())] = ns;
    } else {
      refuse(text);
    }
  }
}

}  // namespace feedrate::cli
