#include "ledger/measurement_json.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ledger/host_columns.h"
#include "measure/affinity.h"
#include "measure/clock.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

Json series_json(const run::StepSeries& series) {
  // Very short steps would make records of many megabytes: the statistics are of all steps, the raw
  // values of the first ones.
  constexpr std::size_t kRaw = 5000;
  const std::size_t kept = std::min(kRaw, series.values.size());
  const measure::Summary& s = series.summary;
  return {{"median", s.median},
          {"mean", s.mean},
          {"p95", s.p95},
          {"p99", s.p99},
          {"max", s.max},
          {"raw", std::vector(series.values.data(), series.values.data() + kept)}};
}

Json interval_json(const std::optional<measure::Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json(nullptr);
}

Json device_rate_json(const run::DeviceRate& rate) {
  return {{"imgs_per_s", rate.imgs_per_s}, {"ci95", interval_json(rate.ci95)}};
}

Json measured_pairs_json(const run::MeasuredPairs& pairs) {
  Json json = {{"took_s", pairs.took_s}};
  for (const run::MeasuredPair& pair : pairs.pairs) {
    json["cell_steps"].push_back(pair.cell_steps);
    json["cell_s"].push_back(pair.cell_s);
    json["ceiling_steps"].push_back(pair.ceiling_steps);
    json["ceiling_s"].push_back(pair.ceiling_s);
    json["cell_busy_s"].push_back(pair.cell_busy_s);
    json["ceiling_busy_s"].push_back(pair.ceiling_busy_s);
    json["ceiling_first"].push_back(pair.ceiling_first);
    json["ceiling_disturbed"].push_back(pair.ceiling_disturbed);
  }
  return json;
}

Json stages_json(const measure::StageTotals& totals) {
  Json stages = Json::array();
  for (std::size_t i = 0; i < measure::kStageCount; ++i) {
    const measure::StageTotal& t = totals.stage[i];
    if (t.items == 0) continue;
    stages.push_back({{"name", measure::kStageNames[i]},
                      {"wall_s", measure::seconds(t.wall_ns)},
                      {"cpu_s", measure::seconds(t.cpu_ns)},
                      {"items", t.items},
                      {"bytes", t.bytes}});
  }
  return stages;
}

// `unknown`: how many more there were; a percentile that they can move is null.
Json latency_json(const measure::LatencyHistogram& histogram, std::int64_t unknown) {
  if (histogram.count() + unknown == 0) return nullptr;
  const auto us = [&](double p) -> Json {
    const auto ns = histogram.percentile_ns(p, unknown);
    return ns ? Json(run::rounded(1e-3 * static_cast<double>(*ns))) : Json();
  };
  return {{"median", us(0.5)},
          {"p90", us(0.9)},
          {"p99", us(0.99)},
          {"p999", us(0.999)},
          {"max", us(1)}};
}

// Whether each read with O_DIRECT by io_uring went to memory that was registered beforehand; null
// for other ways to read, for which the kernel pins no memory.
Json registered_json(const run::Measurement& m, const plan::CellSettings& settings) {
  if (settings.io != "uring-direct") return nullptr;
  return m.latencies.unregistered == 0;
}

// Null where no file was read.
Json io_json(const run::Measurement& m, const plan::CellSettings& settings) {
  const std::int64_t reads = m.latencies.count();
  if (reads == 0) return nullptr;
  const auto bytes = static_cast<double>(m.stages[measure::Stage::read].bytes);
  return {{"reads", reads},
          {"reads_per_s", run::rounded(static_cast<double>(reads) / m.window_s)},
          {"bytes_per_s", std::llround(bytes / m.window_s)},
          {"latency_us", latency_json(m.latencies.reads, m.latencies.seen_late)},
          {"seen_late", m.latencies.seen_late},
          {"open_us", latency_json(m.latencies.opens, 0)},
          {"registered_buffers", registered_json(m, settings)}};
}

// Null where nothing was copied: synthetic, resident, or the host's own memory.
Json arrivals_json(const device::Arrivals& all, const plan::CellSettings& settings) {
  if (all.batches == 0) return nullptr;
  Json json = {
      {"batches", all.batches}, {"busy_s", measure::seconds(all.busy_ns)}, {"decoded", nullptr}};
  if (settings.decode_on_device) {
    json["decoded"] = {{"engine", all.decoded.engine},
                       {"processors", all.decoded.processors},
                       {"host", all.decoded.host}};
  }
  return json;
}

Json device_json(const device::DeviceDescription& d) {
  Json json = {{"name", d.name}, {"kind", d.kind}};
  if (!d.software.empty()) json["software"] = d.software;
  if (!d.kernels.empty()) json["kernels_xxh3"] = d.kernels;
  if (d.kind == "emulated") {
    json["step_ms"] = d.step_ms;
    json["bus_bytes_per_s"] = d.bus_bytes_per_s;
    json["host_cpu_ms"] = d.host_cpu_ms;
    json["all_reduce_ms"] = d.all_reduce_ms;
    json["source"] = d.source;
    if (!d.precision.empty()) json["precision"] = d.precision;
  }
  return json;
}

Json host_series_json(const std::vector<measure::HostSample>& samples) {
  if (samples.empty()) return nullptr;
  Json json;
  for (const measure::HostSample& sample : samples)
    json["at_s"].push_back(run::rounded(measure::seconds(sample.at_ns)));
  for (const auto& [name, value] : kHostShares) {
    for (const measure::HostSample& sample : samples)
      json[name].push_back(run::rounded(sample.use.*value));
  }
  for (const auto& [name, value] : kHostAmounts) {
    for (const measure::HostSample& sample : samples)
      json[name].push_back(std::llround(sample.use.*value));
  }
  return json;
}

Json use_json(const measure::HostUse& use) {
  Json json;
  for (const auto& [name, value] : kHostShares) json[name] = run::rounded(use.*value);
  json["usable_cpus_other_processes"] = run::rounded(use.usable_cpus_other_processes);
  json["cpu_kernel_threads"] = run::rounded(use.cpu_kernel_threads);
  json["usable_cpus_kernel_threads"] = run::rounded(use.usable_cpus_kernel_threads);
  json["cpu_interrupts"] = run::rounded(use.cpu_interrupts);
  json["usable_cpus_interrupts"] = run::rounded(use.usable_cpus_interrupts);
  return json;
}

// Null where there is none to be seen.
Json counters_json(const std::vector<measure::StorageCounter>& counters) {
  Json json;
  for (const measure::StorageCounter& counter : counters) {
    json.push_back({{"name", counter.name},
                    {"depth", counter.depth < 0 ? Json() : Json(counter.depth)},
                    {"read_bytes", counter.read_bytes}});
  }
  return json;
}

std::size_t processes_of(const run::Measurement& m) {
  std::set<std::pair<std::string, int>> processes;
  for (const run::RankMeasurement& rank : m.ranks)
    processes.emplace(rank.place.host, rank.place.pid);
  return std::max<std::size_t>(1, processes.size());
}

Json monitors_json(const run::Measurement& m) {
  Json json = use_json(m.machines.front().use);
  const double cpu_s = m.machines.front().use.process_cpu_s;
  json["process_cpu_s"] = cpu_s < 0 ? Json() : Json(run::rounded(cpu_s));
  json["processes"] = processes_of(m);
  json["storage_read_bytes"] = std::llround(m.storage_read_bytes);
  json["storage_counters"] = counters_json(m.storage_counters);
  json["storage_other_read_bytes"] = std::llround(m.storage_other_read_bytes);
  json["stopped_s"] = run::rounded(m.standstills.stopped_s);
  json["suspended_s"] = run::rounded(m.standstills.suspended_s);
  json["series"] = host_series_json(m.host_series);
  return json;
}

struct GpuColumn {
  const char* name;
  double (*of)(const measure::GpuState&);
};
constexpr GpuColumn kGpuColumns[] = {
    {"utilisation_percent",
     [](const measure::GpuState& s) -> double { return s.utilisation_percent; }},
    {"memory_utilisation_percent",
     [](const measure::GpuState& s) -> double { return s.memory_utilisation_percent; }},
    {"sm_mhz", [](const measure::GpuState& s) -> double { return s.sm_mhz; }},
    {"memory_mhz", [](const measure::GpuState& s) -> double { return s.memory_mhz; }},
    {"power_w", [](const measure::GpuState& s) { return s.power_w; }},
    {"power_limit_w", [](const measure::GpuState& s) { return s.power_limit_w; }},
    {"temperature_c", [](const measure::GpuState& s) -> double { return s.temperature_c; }},
    {"memory_used_mb", [](const measure::GpuState& s) { return s.memory_used_mb; }},
    {"pcie_rx_mb_s", [](const measure::GpuState& s) { return s.pcie_rx_mb_s; }},
    {"pcie_tx_mb_s", [](const measure::GpuState& s) { return s.pcie_tx_mb_s; }},
    {"compute_processes",
     [](const measure::GpuState& s) -> double { return s.compute_processes; }}};

// What NVML says, two numbers a second; null where the device is no GPU, or nothing
// of it can be seen.
Json gpu_json(const std::vector<measure::GpuSample>& samples) {
  if (samples.empty()) return nullptr;
  Json json;
  for (const measure::GpuSample& s : samples)
    json["seconds"].push_back(run::rounded(measure::seconds(s.at_ns)));
  for (const GpuColumn& column : kGpuColumns) {
    for (const measure::GpuSample& s : samples)
      json[column.name].push_back(run::rounded(column.of(s.state)));
  }
  std::uint64_t reasons = 0;
  for (const measure::GpuSample& s : samples) reasons |= s.state.throttle_reasons;
  json["throttled"] = measure::throttle_text(reasons);
  return json;
}

Json straggler_json(const std::optional<run::Straggler>& straggler) {
  if (!straggler) return nullptr;
  return {{"rank", straggler->rank}, {"others_wait_ms", straggler->others_wait_ms}};
}

}  // namespace

Json rank_json(std::size_t number, const run::RankMeasurement& rank) {
  Json json = {{"rank", number},
               {"imgs_per_s", rank.imgs_per_s},
               {"window_s", rank.window_s},
               {"data_wait_ms_mean", rank.data_wait_ms},
               {"sync_ms_mean", rank.sync_ms},
               {"gpu", gpu_json(rank.gpu)}};
  if (!rank.place.host.empty()) {
    json.update({{"host", rank.place.host},
                 {"pid", rank.place.pid},
                 {"cpus", measure::cpu_list(rank.place.cpus)}});
  }
  return json;
}

void add_measurement(Json& record, const plan::CellSettings& settings, const run::Measurement& m,
                     const std::optional<judge::Ceiling>& ceiling) {
  record["imgs_per_s"] = m.imgs_per_s;
  record["ci95"] = interval_json(m.ci95);
  record["device_rate"] = device_rate_json(m.device_rate);
  if (ceiling) {
    record["ceiling_imgs_per_s"] = ceiling->imgs_per_s;
    record["ceiling_device_rate"] = device_rate_json(ceiling->device);
  }
  if (m.pairs) {
    record["ceiling_fraction"] = m.pairs->share.share;
    record["ceiling_fraction_ci95"] = interval_json(m.pairs->share.ci95);
    record["pairs"] = measured_pairs_json(*m.pairs);
  }
  record["steps"] = m.steps;
  record["images"] = m.images;
  record["window_s"] = m.window_s;
  record["warmup_steps"] = m.warmup_steps;
  record["warmup_s"] = m.warmup_s;
  record["step_ms"] = series_json(m.step_ms);
  record["data_wait_ms"] = series_json(m.data_wait_ms);
  record["device_idle_ms"] = series_json(m.device_idle_ms);
  record["device_idle_fraction"] = m.device_idle_fraction;
  record["stages"] = stages_json(m.stages);
  record["cpu_wait_s"] = measure::seconds(m.stages.cpu_wait_ns);
  record["io"] = io_json(m, settings);
  record["arrivals"] = arrivals_json(m.arrivals, settings);
  record["queue"] = {{"capacity_samples", m.queue_capacity},
                     {"drawn_fraction", m.drawn_from_queue},
                     {"drawn_mean", m.drawn_mean},
                     {"rank", m.drawn_rank}};
  record["threads"] = {{"loader", settings.workers * settings.gpus},
                       {"opencv_each", m.opencv_threads},
                       {"process", m.process.threads},
                       {"cpus", m.cpus},
                       {"cpu_capacity", m.cpu_capacity}};
  record["resident_bytes"] = m.process.resident_bytes;
  record["loader_library"] = m.loader_library.empty() ? Json(nullptr) : Json(m.loader_library);
  record["bad_samples"] = m.bad.count;
  if (m.bad.pictures > 0) {
    record["bad_pictures"] = {{"found", m.bad.pictures},
                              {"drawn", m.bad.drawn},
                              {"of", m.bad.of},
                              {"first", m.bad.named}};
  }
  record["pictures_with_stray_bytes"] = m.stray_pictures ? Json(*m.stray_pictures) : Json(nullptr);
  record["loss_last"] = std::isnan(m.loss_last) ? Json(nullptr) : Json(m.loss_last);
  record["monitors"] = monitors_json(m);
  for (std::size_t i = 1; i < m.machines.size(); ++i) {
    record["other_machines"].push_back({{"host", m.machines[i].host}});
    record["other_machines"].back()["monitors"] = use_json(m.machines[i].use);
  }
  record["device"] = device_json(m.device);
  record["straggler"] = straggler_json(m.straggler);
  for (std::size_t r = 0; r < m.ranks.size(); ++r)
    record["ranks"].push_back(rank_json(r, m.ranks[r]));
}

}  // namespace feedrate::ledger
