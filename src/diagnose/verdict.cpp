#include "diagnose/verdict.h"

#include <cmath>
#include <cstdio>

#include "diagnose/capacity.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

StageTotals stages_of(const Json& record) {
  StageTotals totals;
  for (const Json& stage : record.at("stages")) {
    for (std::size_t i = 0; i < kStageCount; ++i) {
      if (stage.at("name") != kStageNames[i]) continue;
      totals.stage[i] = {std::llround(1e9 * stage.at("wall_s").get<double>()),
                         std::llround(1e9 * stage.at("cpu_s").get<double>()), stage.at("items"),
                         stage.at("bytes")};
    }
  }
  return totals;
}

CapacityInputs inputs_of(const Json& record) {
  const Json& cell = record.at("cell");
  const double busy = 1 - record.at("device_idle_fraction").get<double>();
  CapacityInputs run{.imgs_per_s = record.at("imgs_per_s"),
                     .gpus = cell.at("gpus"),
                     .workers = cell.at("workers").is_null() ? 0 : cell.at("workers").get<int>(),
                     .batch_size = cell.at("batch-size"),
                     .stages = stages_of(record)};
  // DALI's threads are its own: what is seen is the one that feeds it and waits for it.
  const bool dali = cell.at("loader") == "dali";
  if (dali) run.workers = 1;
  // Where DALI is ahead, its thread never waits for it, and there is no telling how far ahead it could be.
  if (dali) run.loader_seen = record.at("device_idle_fraction").get<double>() >= 0.05;
  if (record.at("device").at("kind") != "cpu" && !dali) run.cpus = record.at("threads").at("cpus");
  run.device_ms_per_step = record.at("step_ms").at("mean").get<double>() * busy;
  if (const Json& arrivals = record.at("arrivals"); !arrivals.is_null()) {
    run.arrival_s_per_batch =
        arrivals.at("busy_s").get<double>() / arrivals.at("batches").get<double>();
    run.decoded_on_device = !arrivals.at("decoded").is_null();
  }
  return run;
}

std::string sentence(const Json& record, const std::vector<Capacity>& all) {
  const double idle = record.at("device_idle_fraction");
  char text[256];
  if (record.at("cell").at("data") == "synthetic" && idle >= 0.05) {
    std::snprintf(text, sizeof text, "the device waits %.0f %% of the time although nothing is loaded: the program itself is the limit",
                  100 * idle);
    return text;
  }
  if (idle < 0.05 || all.empty()) {
    std::snprintf(text, sizeof text, "not input-bound: the device waits %.1f %% of the time", 100 * idle);
    return text;
  }
  // Uneven steps or an exposed copy: no resource is short on average, and yet the device waits.
  const Capacity& limit = all.front();
  if (limit.resource == "device") {
    std::snprintf(text, sizeof text,
                  "%s input-bound: the device waits %.0f %% of the time although the %s could deliver %.0f img/s: "
                  "uneven service, or a copy that nothing hides",
                  idle < 0.20 ? "moderately" : "highly", 100 * idle, all.size() > 1 ? all[1].resource.c_str() : "loader",
                  all.size() > 1 ? all[1].imgs_per_s : 0.0);
    return text;
  }
  if (limit.resource == "cpu") {
    std::snprintf(text, sizeof text,
                  "%s input-bound: the device waits %.0f %% of the time; the loader uses %.0f %% of the CPUs, "
                  "%.0f %% of that for %s: more workers will not help",
                  idle < 0.20 ? "moderately" : "highly", 100 * idle, 100 * std::min(1.0, limit.utilisation),
                  100 * limit.largest_share, limit.largest_stage.c_str());
    return text;
  }
  std::snprintf(text, sizeof text,
                "%s input-bound: the device waits %.0f %% of the time; the %s can deliver %.0f img/s, "
                "%.0f %% of its time goes into %s",
                idle < 0.20 ? "moderately" : "highly", 100 * idle, limit.resource.c_str(), limit.imgs_per_s,
                100 * limit.largest_share, limit.largest_stage.c_str());
  return text;
}

}  // namespace

void add_verdict(Json& record) {
  if (record.at("status") != "ok") return;
  const std::vector<Capacity> all = capacities(inputs_of(record));
  Json list = Json::array();
  for (const Capacity& c : all) {
    list.push_back({{"resource", c.resource}, {"imgs_per_s", c.imgs_per_s}, {"utilisation", c.utilisation},
                    {"largest_stage", c.largest_stage}, {"largest_share", c.largest_share}});
  }
  record["capacities"] = std::move(list);
  record["verdict"] = sentence(record, all);
}

}  // namespace feedrate
