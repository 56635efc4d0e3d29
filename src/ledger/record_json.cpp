#include "ledger/record_json.h"

#include "plan/axes.h"

namespace feedrate::ledger {

using Json = nlohmann::ordered_json;

Json cell_json(const plan::Cell& cell) {
  Json json;
  for (const plan::Axis& axis : plan::axes()) {
    auto& entry = json[std::string(axis.name)];
    if (const auto value = cell.recorded(axis))
      entry = axis.number ? Json(std::stoll(*value)) : Json(*value);
  }
  return json;
}

plan::Cell cell_from(const Json& json) {
  plan::Cell cell;
  for (const auto& [axis, value] : json.items()) {
    if (!value.is_null())
      cell.set(axis, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return cell;
}

Json limits_json(const run::RunLimits& limits) {
  Json json;
  run::for_each_limit(limits, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

run::RunLimits limits_from(const Json& json) {
  run::RunLimits limits;
  run::for_each_limit(limits,
                      [&](const char* name, auto& value) { value = json.value(name, value); });
  return limits;
}

Json capacities_json(const std::vector<judge::Capacity>& capacities) {
  Json list = Json::array();
  for (const judge::Capacity& c : capacities) {
    list.push_back({{"resource", c.resource},
                    {"imgs_per_s", c.imgs_per_s},
                    {"utilisation", c.utilisation},
                    {"largest_stage", c.largest_stage},
                    {"largest_share", c.largest_share}});
  }
  return list;
}

std::vector<judge::Capacity> capacities_from(const Json& json) {
  std::vector<judge::Capacity> all;
  for (const Json& c : json) {
    all.push_back({c.at("resource"), c.at("imgs_per_s"), c.at("utilisation"), c.at("largest_stage"),
                   c.at("largest_share")});
  }
  return all;
}

std::string to_line(const Json& record) {
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace feedrate::ledger
