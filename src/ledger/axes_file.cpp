#include "ledger/axes_file.h"

#include <string>

#include "base/whole_file.h"
#include "judge/flags.h"
#include "plan/axes.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

Json axis_json(const plan::Axis& axis) {
  Json values = Json::array();
  for (const plan::AxisValue& value : axis.values)
    values.push_back({{"value", value.value}, {"help", value.help}});
  return {{"name", axis.name},
          {"help", axis.help},
          {"default", axis.fallback},
          {"usual", axis.usual.empty() ? Json(nullptr) : Json(axis.usual)},
          {"number", axis.number},
          {"ceiling", axis.ceiling},
          {"values", std::move(values)}};
}

Json flag_json(const judge::FlagRule& rule) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  return {{"id", rule.id},
          {"name", rule.name()},
          {"severity", name_of(rule.severity)},
          {"threshold", number(rule.threshold)},
          {"serious", number(rule.serious)},
          {"remedy", rule.remedy}};
}

}  // namespace

Json axes_json() {
  Json json = {{"schema", "feedrate.axes/1"},
               {"axes", Json::array()},
               {"flags", Json::array()},
               {"other_work", judge::other_work()}};
  for (const plan::Axis& axis : plan::axes()) json["axes"].push_back(axis_json(axis));
  for (const judge::FlagRule& rule : judge::flag_rules()) json["flags"].push_back(flag_json(rule));
  return json;
}

void keep_axes(const std::filesystem::path& folder) {
  write_whole_file(folder / "axes.json", axes_json().dump(1) + "\n", true);
}

}  // namespace feedrate::ledger
