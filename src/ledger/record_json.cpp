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
  return {
      {"warmup_seconds", limits.warmup_seconds}, {"max_warmup_seconds", limits.max_warmup_seconds},
      {"min_seconds", limits.min_seconds},       {"max_seconds", limits.max_seconds},
      {"min_steps", limits.min_steps},           {"stall_seconds", limits.stall_seconds}};
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
