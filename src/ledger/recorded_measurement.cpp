#include "ledger/recorded_measurement.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "judge/flags.h"
#include "ledger/host_columns.h"
#include "measure/nvml.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

// The field at a path such as "/queue/rank"; null where an older version did not write it.
const Json& field(const Json& json, const char* path) {
  static const Json kNull;
  const Json::json_pointer pointer(path);
  return json.contains(pointer) ? json.at(pointer) : kNull;
}

template <typename T>
T value_of(const Json& json, const char* path, T otherwise) {
  const Json& found = field(json, path);
  return found.is_null() ? otherwise : found.get<T>();
}

// A ledger may say anything: what could overflow later is no time.
std::int64_t ns_from(const Json& seconds) {
  constexpr double kMost = 1e9;  // s: a sweep of 30 years
  const auto s = seconds.get<double>();
  if (!(std::abs(s) <= kMost)) throw std::out_of_range(seconds.dump() + " s is no time of a run");
  return std::llround(1e9 * s);
}

// A count that nothing overflows with: a ledger may say anything.
std::int64_t count_from(const Json& count) {
  constexpr double kMost = 1e15;
  const auto n = count.get<double>();
  if (!(n >= 0 && n <= kMost)) throw std::out_of_range(count.dump() + " is no count");
  return std::llround(n);
}

std::int64_t count_of(const Json& json, const char* path) {
  const Json& found = field(json, path);
  return found.is_null() ? 0 : count_from(found);
}

// Seconds of a block, in which something was measured.
double block_s_from(const Json& seconds) {
  if (ns_from(seconds) <= 0) throw std::out_of_range(seconds.dump() + " s is no time of a block");
  return seconds;
}

// A value that three decimals were kept of; a negative one means unknown. A zero is one: less than
// 0.5 ms, or half a thousandth, raises no flag.
double nudged(double value, int nudge) { return value <= 0 ? value : value + 0.0005 * nudge; }

std::optional<measure::Interval> interval_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return measure::Interval{json.at(0), json.at(1)};
}

run::DeviceRate device_rate_from(const Json& json) {
  return {.imgs_per_s = json.at("imgs_per_s"), .ci95 = interval_from(json.at("ci95"))};
}

measure::StageTotals stages_from(const Json& stages) {
  measure::StageTotals totals;
  for (const Json& stage : stages) {
    for (std::size_t i = 0; i < measure::kStageCount; ++i) {
      if (stage.at("name") != measure::kStageNames[i]) continue;
      totals.stage[i] = {ns_from(stage.at("wall_s")), ns_from(stage.at("cpu_s")), stage.at("items"),
                         stage.at("bytes")};
    }
  }
  return totals;
}

std::optional<run::MeasuredPairs> measured_pairs_from(const Json& record) {
  const Json& pairs = field(record, "/pairs");
  if (pairs.is_null()) return std::nullopt;
  run::MeasuredPairs found;
  if (pairs.at("cell_steps").empty()) throw std::out_of_range("pairs holds none");
  const Json& disturbed = field(pairs, "/ceiling_disturbed");  // since 2026-11
  for (std::size_t p = 0; p < pairs.at("cell_steps").size(); ++p) {
    found.pairs.push_back(
        {.cell_steps = count_from(pairs.at("cell_steps").at(p)),
         .ceiling_steps = count_from(pairs.at("ceiling_steps").at(p)),
         .cell_s = block_s_from(pairs.at("cell_s").at(p)),
         .ceiling_s = block_s_from(pairs.at("ceiling_s").at(p)),
         .cell_busy_s = pairs.at("cell_busy_s").at(p),
         .ceiling_busy_s = pairs.at("ceiling_busy_s").at(p),
         .ceiling_disturbed = !disturbed.is_null() && disturbed.at(p).get<bool>()});
  }
  found.took_s = pairs.at("took_s");
  found.share = {value_of(record, "/ceiling_fraction", 0.0),
                 interval_from(field(record, "/ceiling_fraction_ci95"))};
  return found;
}

// A share that a rule takes off another one, which is largest where this is smallest. Absent from
// older records: unknown.
double left_out_from(const Json& monitors, const char* path, int nudge) {
  const double share = value_of(monitors, path, -1.0);
  return share < 0 ? share : std::max(0.0, share - 0.0005 * nudge);
}

measure::HostUse use_from(const Json& monitors, int nudge) {
  measure::HostUse use;
  const auto read = [&](const std::string& name, double& value) {
    value = nudged(value_of(monitors, ("/" + name).c_str(), -1.0), nudge);
  };
  for (const auto& [name, value] : kHostShares) read(name, use.*value);
  read("process_cpu_s", use.process_cpu_s);
  read("usable_cpus_other_processes", use.usable_cpus_other_processes);
  read("cpu_interrupts", use.cpu_interrupts);  // absent from older records, as the next one
  read("usable_cpus_interrupts", use.usable_cpus_interrupts);
  use.cpu_kernel_threads = left_out_from(monitors, "/cpu_kernel_threads", nudge);
  use.usable_cpus_kernel_threads = left_out_from(monitors, "/usable_cpus_kernel_threads", nudge);
  return use;
}

std::vector<run::MachineUse> machines_from(const Json& record, int nudge) {
  std::vector<run::MachineUse> machines = {{"", use_from(field(record, "/monitors"), nudge)}};
  for (const Json& other : field(record, "/other_machines"))
    machines.push_back({other.at("host"), use_from(other.at("monitors"), nudge)});
  return machines;
}

// Of the series, the clocks alone, which a rule compares. They are recorded in whole MHz: a nudge
// parts the first half from the second one.
std::vector<measure::HostSample> host_series_from(const Json& record, int nudge) {
  std::vector<measure::HostSample> samples;
  const Json& clocks = field(record, "/monitors/series/cpu_mhz");
  for (const Json& mhz : clocks) {
    const double half = samples.size() < clocks.size() / 2 ? 0.5 : -0.5;
    samples.push_back({0, {.cpu_mhz = mhz.get<double>() + half * nudge}});
  }
  return samples;
}

std::vector<measure::StorageCounter> counters_from(const Json& counters) {
  std::vector<measure::StorageCounter> found;
  for (const Json& counter : counters) {
    found.push_back({.name = counter.at("name"),
                     .depth = value_of(counter, "/depth", -1),
                     .read_bytes = counter.at("read_bytes")});
  }
  return found;
}

// A number that NVML gives; -1: it does not say.
int reading_from(const Json& value) {
  return static_cast<int>(std::clamp(value.get<double>(), -1.0, 1e9));
}

// Of a GPU's readings, what rules look at. Which one showed a reason for lower clocks, a record
// does not say.
std::vector<measure::GpuSample> gpu_from(const Json& gpu) {
  std::vector<measure::GpuSample> samples;
  const Json &clocks = field(gpu, "/sm_mhz"), &processes = field(gpu, "/compute_processes");
  samples.resize(std::max({clocks.size(), processes.size(), std::size_t{1}}));
  for (std::size_t i = 0; i < clocks.size(); ++i)
    samples[i].state.sm_mhz = reading_from(clocks.at(i));
  for (std::size_t i = 0; i < processes.size(); ++i)
    samples[i].state.compute_processes = reading_from(processes.at(i));
  samples.front().state.throttle_reasons =
      measure::throttle_reasons(value_of<std::string>(gpu, "/throttled", ""));
  return samples;
}

// An anonymised record has no process ids, but says how many processes there were.
std::vector<run::RankMeasurement> ranks_from(const Json& record) {
  const auto processes = static_cast<int>(
      std::clamp<std::int64_t>(count_of(record, "/monitors/processes"), 1, 1 << 20));
  std::vector<run::RankMeasurement> ranks;
  for (const Json& rank : field(record, "/ranks")) {
    ranks.push_back({.window_s = value_of(rank, "/window_s", 0.0),
                     .sync_ms = value_of(rank, "/sync_ms_mean", 0.0)});
    ranks.back().place.pid = static_cast<int>(ranks.size()) % processes;
    if (const Json& gpu = field(rank, "/gpu"); !gpu.is_null()) ranks.back().gpu = gpu_from(gpu);
  }
  return ranks;
}

// A histogram of one duration has it as its median.
measure::LatencyHistogram histogram_from(const Json& io, const char* median) {
  measure::LatencyHistogram histogram;
  if (const Json& us = field(io, median); !us.is_null())
    histogram.counts[measure::latency_bucket(ns_from(1e-6 * us.get<double>()))] = 1;
  return histogram;
}

device::DeviceDescription device_from(const Json& device) {
  return {.name = value_of<std::string>(device, "/name", ""),
          .kind = device.at("kind"),
          .step_ms = value_of(device, "/step_ms", 0.0),
          .host_cpu_ms = value_of(device, "/host_cpu_ms", 0.0),
          .all_reduce_ms = value_of(device, "/all_reduce_ms", 0.0),
          .kernels = value_of<std::string>(device, "/kernels_xxh3", "")};
}

device::Arrivals arrivals_from(const Json& arrivals) {
  device::Arrivals found;
  if (arrivals.is_null()) return found;
  found.batches = arrivals.at("batches");
  found.busy_ns = ns_from(arrivals.at("busy_s"));
  found.decoded.engine = value_of(arrivals, "/decoded/engine", found.decoded.engine);
  return found;
}

run::PageCache page_cache_from(const Json& dataset) {
  run::PageCache cache{.state = value_of<std::string>(dataset, "/page_cache", ""),
                       .fits = value_of(dataset, "/fits_in_memory", false),
                       .before = value_of(dataset, "/page_cache_before", -1.0),
                       .after = value_of(dataset, "/page_cache_after", -1.0)};
  cache.scope = value_of<std::string>(dataset, "/page_cache_scope", "");
  cache.memory_bytes = value_of<std::uint64_t>(dataset, "/memory_bytes", 0);
  if (const Json& before = field(dataset, "/page_cache_backing_before"); !before.is_null()) {
    cache.loops = "its loop devices";
    cache.loops_before = before;
    cache.loops_after = value_of(dataset, "/page_cache_backing_after", -1.0);
  }
  return cache;
}

bool has_flag(const Json& record, std::string_view name) {
  const Json& flags = field(record, "/flags");
  return std::ranges::any_of(flags, [&](const Json& flag) { return flag.at("name") == name; });
}

void read_totals(const Json& record, int nudge, run::Measurement& m) {
  m.steps = count_of(record, "/steps");
  m.images = count_of(record, "/images");
  m.warmup_steps = count_of(record, "/warmup_steps");
  m.drawn_from_queue = value_of(record, "/queue/drawn_fraction", 0.0);
  m.drawn_rank = static_cast<std::size_t>(count_of(record, "/queue/rank"));
  m.drawn_mean = value_of(record, "/queue/drawn_mean", 0.0);
  m.bad = {.count = count_of(record, "/bad_samples"),
           .pictures = count_of(record, "/bad_pictures/found"),
           .drawn = count_of(record, "/bad_pictures/drawn"),
           .of = count_of(record, "/bad_pictures/of")};
  m.stray_pictures = count_of(record, "/pictures_with_stray_bytes");
  m.standstills = {nudged(value_of(record, "/monitors/stopped_s", 0.0), nudge),
                   nudged(value_of(record, "/monitors/suspended_s", 0.0), nudge)};
  m.storage_read_bytes = value_of(record, "/monitors/storage_read_bytes", -1.0);
  m.storage_other_read_bytes = value_of(record, "/monitors/storage_other_read_bytes", -1.0);
  if (const Json& straggler = field(record, "/straggler"); !straggler.is_null())
    m.straggler = {straggler.at("rank"), straggler.at("others_wait_ms")};
}

}  // namespace

run::Measurement measurement_from(const Json& record, int nudge) {
  run::Measurement m;
  m.imgs_per_s = record.at("imgs_per_s");
  m.window_s = record.at("window_s");
  m.device_rate = device_rate_from(record.at("device_rate"));
  m.device_idle_fraction = record.at("device_idle_fraction");
  m.step_ms.summary.mean = record.at("step_ms").at("mean");
  m.stages = stages_from(record.at("stages"));
  m.stages.cpu_wait_ns = ns_from(record.at("cpu_wait_s"));
  m.arrivals = arrivals_from(record.at("arrivals"));
  m.cpu_capacity = record.at("threads").at("cpu_capacity");
  m.device = device_from(record.at("device"));
  m.steady = true;  // how the warm-up ended, no record tells
  m.pairs = measured_pairs_from(record);
  read_totals(record, nudge, m);
  m.machines = machines_from(record, nudge);
  m.host_series = host_series_from(record, nudge);
  m.storage_counters = counters_from(field(record, "/monitors/storage_counters"));
  m.ranks = ranks_from(record);
  if (m.ranks.empty()) m.ranks.push_back({.window_s = m.window_s});
  m.page_cache = page_cache_from(field(record, "/dataset"));
  m.latencies.reads = histogram_from(field(record, "/io"), "/latency_us/median");
  m.latencies.opens = histogram_from(field(record, "/io"), "/open_us/median");
  return m;
}

std::optional<judge::Ceiling> ceiling_from(const Json& record) {
  if (!record.contains("ceiling_imgs_per_s")) return std::nullopt;
  return judge::Ceiling{record.at("ceiling_imgs_per_s"),
                        device_rate_from(record.at("ceiling_device_rate")),
                        has_flag(record, judge::kUnfitCeilingFlag) ? "it is flagged" : ""};
}

std::vector<judge::Flag> flags_from(const Json& record) {
  std::vector<judge::Flag> flags;
  for (const Json& flag : record.value("flags", Json::array())) {
    const std::string name = flag.at("name");
    flags.push_back({.name = name,
                     .severity = judge::severity_named(flag.at("severity").get<std::string>())
                                     .value_or(judge::usual_severity(name)),
                     .reason = flag.value("reason", ""),
                     .remedy = flag.value("remedy", "")});
  }
  return flags;
}

judge::Ceiling as_ceiling(const Json& record) {
  return {record.at("imgs_per_s"),
          record.contains("device_rate") ? device_rate_from(record.at("device_rate"))
                                         : run::DeviceRate{},
          judge::serious_names(flags_from(record)),
          record.value("device", Json::object()).value("kernels_xxh3", "")};
}

std::optional<run::PageCache> first_page_cache_from(const Json& record) {
  const Json& before = field(record, "/dataset/page_cache_first");
  if (before.is_null()) return std::nullopt;
  return run::PageCache{
      .state = value_of<std::string>(record, "/dataset/page_cache_first_state", ""),
      .before = before};
}

}  // namespace feedrate::ledger
