#include "experiment/record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "experiment/flags.h"
#include "experiment/rank_record.h"
#include "measure/clock.h"
#include "measure/statistics.h"
#include "pipeline/loader.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

Json series(const std::vector<double>& values_ms) {
  const Summary s = summarise(values_ms);
  // Very short steps would make records of many megabytes: the statistics are of all steps, the raw
  // values of the first ones.
  constexpr std::size_t kRaw = 5000;
  Json raw = Json::array();
  for (std::size_t i = 0; i < std::min(kRaw, values_ms.size()); ++i) raw.push_back(rounded(values_ms[i]));
  return {{"median", rounded(s.median)}, {"mean", rounded(s.mean)}, {"p95", rounded(s.p95)},
          {"p99", rounded(s.p99)},       {"max", rounded(s.max)},   {"raw", std::move(raw)}};
}

// How long the device worked on each step of the window. A rank whose batch came early waits within the
// step for the slowest one, so the slowest one's step is the work.
std::vector<double> busy_ms(const std::vector<RankResult>& ranks) {
  std::vector<double> busy;
  for (std::size_t i = ranks.front().first; i < ranks.front().last; ++i) {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (const RankResult& r : ranks) shortest = std::min(shortest, r.steps[i].end_ns - r.steps[i].start_ns);
    busy.push_back(ms(shortest));
  }
  return busy;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

Json stages_json(const StageTotals& totals) {
  Json stages = Json::array();
  for (std::size_t i = 0; i < kStageCount; ++i) {
    const StageTotal& t = totals.stage[i];
    if (t.items == 0) continue;
    stages.push_back({{"name", kStageNames[i]}, {"wall_s", seconds(t.wall_ns)}, {"cpu_s", seconds(t.cpu_ns)},
                      {"items", t.items}, {"bytes", t.bytes}});
  }
  return stages;
}

// Null where nothing was copied: synthetic, resident, or the host's own memory.
Json arrivals_json(const std::vector<RankResult>& ranks, const CellSettings& settings) {
  Arrivals all;
  for (const RankResult& rank : ranks) all += rank.arrivals;
  if (all.batches == 0) return nullptr;
  Json json = {{"batches", all.batches}, {"busy_s", seconds(all.busy_ns)}, {"decoded", nullptr}};
  if (settings.decode_on_device) {
    json["decoded"] = {{"engine", all.decoded.engine}, {"processors", all.decoded.processors}, {"host", all.decoded.host}};
  }
  return json;
}

Json dataset_json(const CellResult& result, const RunOptions& options) {
  if (!result.dataset) return nullptr;
  const DatasetVariant& d = *result.dataset;
  return {{"path", options.data.string()}, {"variant", d.folder.lexically_relative(options.data).generic_string()},
          {"samples", d.samples.size()}, {"bytes", d.total_bytes},
          {"mean_bytes", d.samples.empty() ? 0 : d.total_bytes / d.samples.size()},
          {"manifest_xxh3", d.manifest_xxh3}, {"made", d.made},
          {"page_cache_before", result.page_cache_before}, {"page_cache_after", result.page_cache_after}};
}

Json device_json(const DeviceDescription& d) {
  Json json = {{"name", d.name}, {"kind", d.kind}};
  if (!d.software.empty()) json["software"] = d.software;
  if (d.kind == "emulated") {
    json["step_ms"] = d.step_ms;
    json["bus_bytes_per_s"] = d.bus_bytes_per_s;
    json["source"] = d.source;
    if (!d.precision.empty()) json["precision"] = d.precision;
  }
  return json;
}

// What was measured; called only for runs that ended.
void add_measurement(Json& record, const CellResult& result, const RunPlace& place) {
  const RankResult& first = result.ranks.front();
  const CellSettings settings = settings_of(result.cell);
  const double rate = imgs_per_s(result);
  const std::vector<double> durations = step_durations(first.steps, first.first, first.last);
  std::vector<double> steps_ms = durations;
  for (double& d : steps_ms) d *= 1e3;
  const double images = static_cast<double>(settings.batch_size) * settings.gpus;

  record["imgs_per_s"] = rate;
  const auto interval = block_interval(durations, images);
  record["ci95"] = interval ? Json{interval->low, interval->high} : Json(nullptr);
  if (place.ceiling_imgs_per_s) record["ceiling_imgs_per_s"] = *place.ceiling_imgs_per_s;
  record["steps"] = first.last - first.first;
  record["images"] = static_cast<std::int64_t>(images) * static_cast<std::int64_t>(first.last - first.first);
  record["window_s"] = window_seconds(result.ranks);
  record["warmup_steps"] = first.first;
  record["warmup_s"] = seconds(first.steps[first.first - 1].end_ns - first.steps.front().start_ns);
  record["step_ms"] = series(steps_ms);
  record["data_wait_ms"] = series({first.data_wait_ms.begin() + static_cast<std::ptrdiff_t>(first.first),
                                   first.data_wait_ms.begin() + static_cast<std::ptrdiff_t>(first.last)});
  const std::vector<double> busy = busy_ms(result.ranks);
  std::vector<double> idle = steps_ms;
  for (std::size_t i = 0; i < idle.size(); ++i) idle[i] = std::max(0.0, idle[i] - busy[i]);
  record["device_idle_ms"] = series(idle);
  record["device_idle_fraction"] = sum(idle) * 1e-3 / window_seconds(first);
  StageTotals stages;
  for (const RankResult& rank : result.ranks) stages += rank.stages;
  record["stages"] = stages_json(stages);
  record["arrivals"] = arrivals_json(result.ranks, settings);
  record["queue"] = {{"capacity_samples", first.samples_ahead_limit}, {"drawn_fraction", first.drawn_from_queue}};
  record["threads"] = {{"loader", settings.workers * settings.gpus}, {"opencv_each", opencv_threads()}, {"process", first.process.threads}, {"cpus", cpus_of(result.ranks)}};
  record["resident_bytes"] = first.process.resident_bytes;
  record["loader_library"] = first.loader_library.empty() ? Json(nullptr) : Json(first.loader_library);
  record["bad_samples"] = result.bad.count;
  record["loss_last"] = nullptr;
  if (!std::isnan(first.steps.back().loss)) record["loss_last"] = first.steps.back().loss;
  record["monitors"] = monitors_json(result.ranks);
  record["device"] = device_json(first.device);
  Json ranks = Json::array();
  for (std::size_t r = 0; r < result.ranks.size(); ++r) ranks.push_back(rank_json(r, result.ranks[r], settings.batch_size));
  record["straggler"] = straggler(result.ranks, record["step_ms"]["mean"]);
  record["ranks"] = std::move(ranks);
}

}  // namespace

double imgs_per_s(const CellResult& result) {
  double images = 0;
  for (const RankResult& rank : result.ranks) {
    images += static_cast<double>(settings_of(result.cell).batch_size) * static_cast<double>(rank.last - rank.first);
  }
  return images / window_seconds(result.ranks);
}

std::string to_line(const Json& record) { return record.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json run_limits_json(const RunLimits& limits) {
  return {{"warmup_seconds", limits.warmup_seconds}, {"max_warmup_seconds", limits.max_warmup_seconds}, {"min_seconds", limits.min_seconds},
          {"max_seconds", limits.max_seconds},       {"min_steps", limits.min_steps},                   {"stall_seconds", limits.stall_seconds}};
}

bool is_valid(const Json& record) {
  return record["status"] == "ok" && std::ranges::none_of(record["flags"], [](const Json& flag) { return flag["severity"] == "serious"; });
}

Json make_record(const CellResult& result, const RunPlace& place, const RunOptions& options, const Json& environment) {
  Json record = {{"schema", kResultSchema},     {"cell", result.cell.to_json()}, {"cell_id", result.cell.id()},
                 {"role", place.role},          {"repetition", place.repetition}, {"order", place.order},
                 {"status", name_of(result.status)}, {"error", nullptr},           {"imgs_per_s", nullptr}};
  if (!result.error.empty()) record["error"] = result.error;
  if (result.status == Status::ok) add_measurement(record, result, place);
  record["flags"] = flags_of(result, options);
  record["valid"] = is_valid(record);
  record["dataset"] = dataset_json(result, options);
  record["environment"] = environment;
  record["limits"] = run_limits_json(options.limits);
  record["seed"] = options.seed;
  record["started_at"] = result.started_at;
  return record;
}

}  // namespace feedrate
