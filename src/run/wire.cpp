#include "run/wire.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.h"
#include "plan/axes.h"
#include "ranks/bounded_json.h"
#include "run/answer_checks.h"
#include "run/number_or_nan.h"

// The JSON library looks for the functions that write and read a type in the type's own namespace.
// The two are each other's inverse. NaNs travel as null.
namespace feedrate::measure {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTotal, wall_ns, cpu_ns, items, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTotals, stage, cpu_wait_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostUse, cpu_busy, cpu_iowait, cpu_steal, cpu_other_processes,
                                   usable_cpus_other_processes, cpu_kernel_threads,
                                   usable_cpus_kernel_threads, cpu_interrupts,
                                   usable_cpus_interrupts, psi_cpu_some, psi_io_some,
                                   psi_memory_some, cpu_quota_stopped, disk_read_bytes_per_s,
                                   network_receive_bytes_per_s, storage_read_bytes,
                                   memory_available_bytes, cpu_mhz, process_cpu_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostSample, at_ns, use)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StorageCounter, name, depth, read_bytes)

// The buckets that are not empty, each with its number.
void to_json(nlohmann::json& j, const LatencyHistogram& h) {
  j = nlohmann::json::array();
  for (std::size_t i = 0; i < kLatencyBuckets; ++i)
    if (h.counts[i] != 0) j.push_back({i, h.counts[i]});
}
void from_json(const nlohmann::json& j, LatencyHistogram& h) {
  h = {};
  for (const auto& bucket : j) h.counts.at(bucket.at(0).get<std::size_t>()) = bucket.at(1);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CpuQuota, cpus, group)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Standstills, stopped_s, suspended_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessSize, threads, resident_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuState, utilisation_percent, memory_utilisation_percent,
                                   sm_mhz, memory_mhz, power_w, power_limit_w, temperature_c,
                                   memory_used_mb, pcie_rx_mb_s, pcie_tx_mb_s, compute_processes,
                                   throttle_reasons)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuSample, at_ns, state)
}  // namespace feedrate::measure

namespace feedrate::storage {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReadLatencies, reads, opens, seen_late, unregistered)
}  // namespace feedrate::storage

namespace feedrate::pipeline {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlantedStage, ns, spike_ns, every, free_first, burns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BadTotals, count, drawn, of, pictures, named)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NotedTotals, is_counted, samples)
}  // namespace feedrate::pipeline

namespace feedrate::device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DecodedBy, engine, processors, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arrivals, batches, busy_ns, decoded)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceDescription, name, kind, step_ms, host_cpu_ms,
                                   all_reduce_ms, bus_bytes_per_s, software, source, precision,
                                   caveat, pci_address, kernels)

// As four numbers: there are many.
void to_json(nlohmann::json& j, const StepRecord& s) {
  j = {s.start_ns, s.end_ns, s.loss, s.sync_ns};
}
void from_json(const nlohmann::json& j, StepRecord& s) {
  s = {j.at(0), j.at(1), run::number_or_nan(j.at(2)), j.at(3)};
}
}  // namespace feedrate::device

namespace feedrate::run {

void to_json(nlohmann::json& j, const RunLimits& limits) {
  for_each_limit(limits, [&](const char* name, const auto& limit) { j[name] = limit; });
}
void from_json(const nlohmann::json& j, RunLimits& limits) {
  for_each_limit(limits, [&](const char* name, auto& limit) { j.at(name).get_to(limit); });
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SharedWindow, opens_ns, leaves_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunProgress, phase, steps, imgs_per_s, ceiling_imgs_per_s,
                                   device_idle, elapsed_s, settled, remaining_s, cached, to_cache)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockSpan, block, is_ceiling, is_disturbed, first, last, made,
                                   extra_reads, made_in_s, stages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlace, host, pid, cpus, quota)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankResult, steps, data_wait_ms, first, last, steady,
                                   drawn_from_queue, stages, latencies, arrivals, host, standstills,
                                   host_series, storage_counters, blocks, in_pairs, pairs_took_s,
                                   samples_ahead_limit, loader_library, opencv_threads, process,
                                   first_batch_ns, device, place, gpu, gpu_problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CacheLook, by, files, of, unwritten_pages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PageCache, state, fits, before, after, look, method, scope,
                                   file_system, loops, loops_before, loops_after, memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TraceOutcome, left_out, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankAnswer, ranks, bad, stray_bytes, page_cache, interrupted,
                                   trace)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ListingNews, files, note, listed_s, how)

void to_json(nlohmann::json& j, const Block& block) {
  const measure::Delay& delay = block.delay;
  j = {static_cast<int>(block.place), delay.ns, delay.burns, delay.reads, delay.withheld};
}
void from_json(const nlohmann::json& j, Block& block) {
  const int place = j.at(0);
  if (place < 0 || place >= static_cast<int>(measure::kPlaceCount))
    throw std::invalid_argument("a block delays nothing");
  block = {static_cast<measure::Place>(place), {j.at(1), j.at(2), j.at(3), j.at(4)}};
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockPlan, blocks, seconds, least_steps)

void from_json(const nlohmann::json& j, Work& work) {
  const int number = j.get<int>();
  if (number < 0 || number > static_cast<int>(Work::qualify))
    throw std::invalid_argument("it is no work");
  work = static_cast<Work>(number);
}

namespace {

// The fields of an order, by their names on the wire: visit(name, field).
template <class Order, class Visit>
void for_each_field(Order& order, const Visit& visit) {
  visit("cell", order.cell);
  visit("manifest", order.manifest);
  visit("work", order.work);
  visit("keeps_device", order.keeps_device);
  visit("copy_to", order.copy_to);
  visit("most_bytes", order.most_bytes);
  visit("precision", order.precision);
  visit("step", order.step);
  visit("open_step", order.open_step);
  visit("qualify", order.qualify);
  for_each_option(order.options, visit);
}

// A name that the other process opens must come through as it is: it need not be UTF-8.
struct FieldWriter {
  nlohmann::json& json;

  void operator()(const char* name, const auto& field) const { json[name] = field; }
  void operator()(const char* name, const std::filesystem::path& path) const {
    json[name] = utf8_of_latin1(path.string());
  }
  void operator()(const char* name, const std::optional<int>& rank) const {
    json[name] = rank.value_or(-1);
  }
  void operator()(const char* name, const plan::Cell& cell) const {
    nlohmann::json& values = json[name] = nlohmann::json::object();
    for (const plan::Axis& axis : plan::axes()) {
      if (const auto& value = cell[axis.name])
        values[std::string(axis.name)] = utf8_of_latin1(*value);
    }
  }
};

struct FieldReader {
  const nlohmann::json& json;

  void operator()(const char* name, auto& field) const { json.at(name).get_to(field); }
  void operator()(const char* name, std::filesystem::path& path) const {
    path = latin1_of_utf8(json.at(name).get<std::string>());
  }
  void operator()(const char* name, std::optional<int>& rank) const {
    if (const int number = json.at(name); number >= 0) rank = number;
  }
  void operator()(const char* name, plan::Cell& cell) const {
    for (const auto& [axis, value] : json.at(name).items())
      cell.set(axis, latin1_of_utf8(value.get<std::string>()));
  }
};

// Bytes that are no UTF-8 become a replacement character: these words are only shown.
std::string text_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

plan::CellSettings RankOrder::settings() const {
  plan::CellSettings settings = plan::settings_of(cell);
  if (!precision.empty()) settings.precision = precision;
  settings.step = step;
  settings.open_step = open_step;
  return settings;
}

std::string to_text(const RankOrder& order) {
  nlohmann::json json;
  for_each_field(order, FieldWriter{json});
  return text_of(json);
}
RankOrder order_from(const std::string& text) {
  const nlohmann::json json = ranks::json_from(text);
  RankOrder order;
  for_each_field(order, FieldReader{json});
  return order;
}

std::string to_text(const RankAnswer& answer) { return text_of(answer); }
RankAnswer answer_from(const std::string& text) {
  RankAnswer answer = ranks::json_from(text).get<RankAnswer>();
  check_answer(answer);
  return answer;
}

std::string to_text(const RunProgress& progress) { return text_of(progress); }
RunProgress progress_from(const std::string& text) {
  return ranks::json_from(text).get<RunProgress>();
}

std::string to_text(const ListingNews& news) { return text_of(news); }
ListingNews listing_news_from(const std::string& text) {
  ListingNews news = ranks::json_from(text).get<ListingNews>();
  clean(news.note);
  clean(news.how);
  return news;
}

std::string to_text(const QualifyEvent& event) { return text_of(json_of(event)); }
QualifyEvent qualify_event_from(const std::string& text) {
  return qualify_event_from(ranks::json_from(text));
}

}  // namespace feedrate::run
