#include "run/wire.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.h"
#include "plan/axes.h"
#include "ranks/bounded_json.h"
#include "run/number_or_nan.h"

// The JSON library looks for the functions that write and read a type in the type's own namespace.
// The two are each other's inverse. NaNs travel as null.
namespace feedrate::measure {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTotal, wall_ns, cpu_ns, items, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTotals, stage, cpu_wait_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostUse, cpu_busy, cpu_iowait, cpu_steal, cpu_other_processes,
                                   usable_cpus_other_processes, psi_cpu_some, psi_io_some,
                                   psi_memory_some, cpu_quota_stopped, disk_read_bytes_per_s,
                                   network_receive_bytes_per_s, storage_read_bytes,
                                   memory_available_bytes, cpu_mhz, process_cpu_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostSample, at_ns, use)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StorageCounter, name, depth, read_bytes)

// The buckets that are not empty, each with its number.
static void to_json(nlohmann::json& j, const LatencyHistogram& h) {
  j = nlohmann::json::array();
  for (std::size_t i = 0; i < kLatencyBuckets; ++i)
    if (h.counts[i] != 0) j.push_back({i, h.counts[i]});
}
static void from_json(const nlohmann::json& j, LatencyHistogram& h) {
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BadTotals, count, first)
}  // namespace feedrate::pipeline

namespace feedrate::device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DecodedBy, engine, processors, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arrivals, batches, busy_ns, decoded)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceDescription, name, kind, step_ms, host_cpu_ms,
                                   all_reduce_ms, bus_bytes_per_s, software, source, precision,
                                   caveat, pci_address, kernels)

// As four numbers: there are many.
static void to_json(nlohmann::json& j, const StepRecord& s) {
  j = {s.start_ns, s.end_ns, s.loss, s.sync_ns};
}
static void from_json(const nlohmann::json& j, StepRecord& s) {
  s = {j.at(0), j.at(1), run::number_or_nan(j.at(2)), j.at(3)};
}
}  // namespace feedrate::device

namespace feedrate::run {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunLimits, warmup_seconds, max_warmup_seconds, min_steps,
                                   min_seconds, max_seconds, stall_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Appointment, opens_ns, leaves_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunProgress, phase, steps, imgs_per_s, ceiling_imgs_per_s,
                                   device_idle, elapsed_s, settled, remaining_s, cached, to_cache)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockSpan, block, is_ceiling, is_disturbed, first, last, made,
                                   extra_reads, made_in_s, stages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlace, host, pid, cpus, quota)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankResult, steps, data_wait_ms, first, last, steady,
                                   drawn_from_queue, stages, latencies, arrivals, host, standstills,
                                   host_series, storage_counters, blocks, in_pairs, pairs_took_s,
                                   samples_ahead_limit, loader_library, opencv_threads, process,
                                   device, place, gpu, gpu_problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CacheLook, by, files, of, unwritten_pages)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PageCache, state, fits, before, after, look, method, scope,
                                   file_system, loops, loops_before, loops_after, memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TraceOutcome, left_out, problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankAnswer, ranks, bad, page_cache, interrupted, trace)

static void to_json(nlohmann::json& j, const Block& block) {
  j = {static_cast<int>(block.place), block.delay.ns, block.delay.burns, block.delay.reads};
}
static void from_json(const nlohmann::json& j, Block& block) {
  const int place = j.at(0);
  if (place < 0 || place >= static_cast<int>(measure::kPlaceCount))
    throw std::invalid_argument("a block delays nothing");
  block = {static_cast<measure::Place>(place), {j.at(1), j.at(2), j.at(3)}};
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlockPlan, blocks, seconds, least_steps)

// File names need not be UTF-8; such a text shows where it is not.
static constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

static void sound(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

// A name that the other process opens must come through as it is: each byte travels as the
// character of its number, U+0000 to U+00FF.
static std::string text_of_bytes(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    if (number < 0x80) {
      text += byte;
    } else {
      text += static_cast<char>(0xc0 | number >> 6);
      text += static_cast<char>(0x80 | (number & 0x3f));
    }
  }
  return text;
}
static std::string bytes_of_text(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto number = static_cast<unsigned char>(text[i]);
    if (number < 0x80) {
      bytes += text[i];
      continue;
    }
    sound((number & 0xfc) == 0xc0 && i + 1 < text.size(),
          "a name has characters that are no bytes");
    bytes += static_cast<char>((number & 0x03) << 6 | (text[++i] & 0x3f));
  }
  return bytes;
}

// A difference of two overflows no int64, nor does the sum of a few.
static bool moderate(std::int64_t value) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000'000;  // of nanoseconds: 31 years
  return -kMost <= value && value <= kMost;
}

// The sum over all buckets and ranks has room in an int64.
constexpr std::int64_t kMostReads = 1'000'000'000'000;

static void check(const measure::StageTotals& stages) {
  const auto total = [](std::int64_t value) { return value >= 0 && moderate(value); };
  for (const measure::StageTotal& stage : stages.stage)
    sound(total(stage.wall_ns) && total(stage.cpu_ns) && total(stage.items) && total(stage.bytes),
          "a stage has a total that cannot be");
  sound(total(stages.cpu_wait_ns), "a stage has a total that cannot be");
}

static void check(const BlockSpan& span, std::size_t steps) {
  constexpr std::int64_t kMostBlocks = 1'000'000;
  sound(0 < span.first && span.first < span.last && span.last <= static_cast<std::int64_t>(steps) &&
            span.block >= 0 && span.block < kMostBlocks && -1 <= span.made && moderate(span.made) &&
            0 <= span.extra_reads && span.extra_reads <= kMostReads &&
            std::isfinite(span.made_in_s) && span.made_in_s >= 0,
        "a block is not within its steps");
  check(span.stages);
}

// One block of each kind makes a pair.
static void check_pairs(const RankResult& rank) {
  sound(rank.blocks.size() % 2 == 0 && std::isfinite(rank.pairs_took_s) && rank.pairs_took_s >= 0,
        "its blocks are not in pairs");
  for (std::size_t b = 0; b < rank.blocks.size(); b += 2)
    sound(rank.blocks[b].is_ceiling != rank.blocks[b + 1].is_ceiling &&
              rank.blocks[b].last <= rank.blocks[b + 1].first,
          "its blocks are not in pairs");
}

// What computing with a result relies on.
static void check(const RankResult& rank) {
  sound(0 < rank.first && rank.first < rank.last && rank.last <= rank.steps.size() &&
            rank.last <= rank.data_wait_ms.size(),
        "its window is not within its steps");
  for (const device::StepRecord& step : rank.steps)
    sound(moderate(step.start_ns) && moderate(step.end_ns) && moderate(step.sync_ns),
          "a step is at no time");
  sound(rank.steps[rank.first - 1].end_ns < rank.steps[rank.last - 1].end_ns,
        "its window takes no time");
  for (std::size_t i = rank.first; i < rank.last; ++i)
    sound(rank.steps[i - 1].end_ns <= rank.steps[i].end_ns && rank.steps[i].sync_ns >= 0 &&
              rank.data_wait_ms[i] >= 0,
          "a step ends before the one before it, or waits for less than no time");
  const auto total = [](std::int64_t value) { return value >= 0 && moderate(value); };
  check(rank.stages);
  for (const BlockSpan& span : rank.blocks) check(span, rank.steps.size());
  if (rank.in_pairs) check_pairs(rank);
  for (const auto* latencies : {&rank.latencies.reads, &rank.latencies.opens})
    for (const std::int64_t count : latencies->counts)
      sound(total(count) && count < kMostReads, "reads cannot be counted");
  for (const std::int64_t count : {rank.latencies.seen_late, rank.latencies.unregistered})
    sound(total(count) && count < kMostReads, "reads cannot be counted");
  const device::Arrivals& a = rank.arrivals;
  sound(total(a.batches) && total(a.busy_ns) && total(a.decoded.engine) &&
            total(a.decoded.processors) && total(a.decoded.host),
        "its arrivals cannot be");
  sound(total(rank.samples_ahead_limit) && rank.opencv_threads >= 0, "a count is negative");
  for (const measure::HostSample& sample : rank.host_series)
    sound(moderate(sample.at_ns), "a sample is at no time");
  for (const measure::GpuSample& sample : rank.gpu)
    sound(moderate(sample.at_ns), "a sample is at no time");
  for (const measure::StorageCounter& counter : rank.storage_counters)
    sound(-1 <= counter.depth && counter.depth < 1000 && total(counter.read_bytes),
          "what was read below the files cannot be");
  for (const int cpu : rank.place.cpus) sound(0 <= cpu && cpu < 1'000'000, "a CPU has no number");
  sound(rank.place.host.size() <= 255 && rank.place.pid >= 0, "it ran nowhere");
  sound(std::isfinite(rank.drawn_from_queue) && rank.standstills.stopped_s >= 0 &&
            rank.standstills.suspended_s >= 0,
        "its queue or its standstills cannot be");
}

plan::CellSettings RankOrder::settings() const {
  plan::CellSettings settings = plan::settings_of(cell);
  if (!precision.empty()) settings.precision = precision;
  settings.step = step;
  settings.open_step = open_step;
  return settings;
}

std::string to_text(const QualifyEvent& event) {
  return json_of(event).dump(-1, ' ', false, kReplace);
}
QualifyEvent qualify_event_from(const std::string& text) {
  return qualify_event_from(ranks::json_from(text));
}

std::string to_text(const RankOrder& order) {
  nlohmann::json cell = nlohmann::json::object();
  for (const plan::Axis& axis : plan::axes()) {
    if (const auto& value = order.cell[axis.name])
      cell[std::string(axis.name)] = text_of_bytes(*value);
  }
  const RunOptions& o = order.options;
  return nlohmann::json{{"cell", cell},
                        {"manifest", order.manifest},
                        {"work", order.work},
                        {"keeps_device", order.keeps_device},
                        {"copy_to", text_of_bytes(order.copy_to.string())},
                        {"most_bytes", order.most_bytes},
                        {"data", text_of_bytes(o.data.string())},
                        {"limits", o.limits},
                        {"seed", o.seed},
                        {"planted", o.planted},
                        {"plant", o.plant},
                        {"planted_rank", o.planted_rank.value_or(-1)},
                        {"planted_delays", o.planted_delays},
                        {"most_cached", o.most_cached},
                        {"blocks", o.blocks},
                        {"in_pairs", o.in_pairs},
                        {"pairs_seed", o.pairs_seed},
                        {"appointment", o.appointment},
                        {"trace", text_of_bytes(o.trace.string())},
                        {"trace_operators", o.trace_operators},
                        {"precision", order.precision},
                        {"step", json_of(order.step)},
                        {"open_step", order.open_step},
                        {"qualify", json_of(order.qualify)}}
      .dump(-1, ' ', false, kReplace);
}

RankOrder order_from(const std::string& text) {
  const auto json = ranks::json_from(text);
  const int work = json.at("work");
  sound(0 <= work && work <= static_cast<int>(Work::qualify), "it is no work");
  RankOrder order{.manifest = json.at("manifest"),
                  .work = static_cast<Work>(work),
                  .keeps_device = json.at("keeps_device"),
                  .copy_to = bytes_of_text(json.at("copy_to")),
                  .most_bytes = json.at("most_bytes"),
                  .precision = json.at("precision"),
                  .step = step_options_from(json.at("step")),
                  .open_step = json.at("open_step"),
                  .qualify = qualify_order_from(json.at("qualify"))};
  for (const auto& [axis, value] : json.at("cell").items())
    order.cell.set(axis, bytes_of_text(value));
  order.options = {.data = bytes_of_text(json.at("data")),
                   .limits = json.at("limits"),
                   .seed = json.at("seed"),
                   .planted = json.at("planted"),
                   .plant = json.at("plant")};
  if (const int rank = json.at("planted_rank"); rank >= 0) order.options.planted_rank = rank;
  order.options.planted_delays = json.at("planted_delays");
  order.options.most_cached = json.at("most_cached");
  order.options.blocks = json.at("blocks");
  order.options.in_pairs = json.at("in_pairs");
  order.options.pairs_seed = json.at("pairs_seed");
  order.options.appointment = json.at("appointment");
  order.options.trace = bytes_of_text(json.at("trace"));
  order.options.trace_operators = json.at("trace_operators");
  return order;
}

std::string to_text(const RankAnswer& answer) {
  return nlohmann::json(answer).dump(-1, ' ', false, kReplace);
}
// Another machine's words, which the terminal and the ledger show.
static void clean(std::string& words) { words = line_of_utf8(words, 2000); }

static void clean(PageCache& cache) {
  for (std::string* words : {&cache.state, &cache.look.by, &cache.method, &cache.scope,
                             &cache.file_system, &cache.loops})
    clean(*words);
  sound(
      moderate(cache.look.files) && moderate(cache.look.of) && moderate(cache.look.unwritten_pages),
      "the page cache's files cannot be counted");
}

RankAnswer answer_from(const std::string& text) {
  RankAnswer answer = ranks::json_from(text).get<RankAnswer>();
  for (RankResult& rank : answer.ranks) {
    check(rank);
    for (std::string* words : {&rank.gpu_problem, &rank.loader_library, &rank.place.host,
                               &rank.device.name, &rank.device.software, &rank.device.caveat})
      clean(*words);
    for (measure::StorageCounter& counter : rank.storage_counters) clean(counter.name);
  }
  clean(answer.page_cache);
  clean(answer.bad.first);
  sound(answer.bad.count >= 0 && moderate(answer.bad.count), "bad samples cannot be counted");
  clean(answer.trace.problem);
  sound(answer.trace.left_out >= 0 && moderate(answer.trace.left_out),
        "what a trace left out cannot be counted");
  return answer;
}
std::string to_text(const RunProgress& progress) { return nlohmann::json(progress).dump(); }
RunProgress progress_from(const std::string& text) {
  return ranks::json_from(text).get<RunProgress>();
}
std::string to_text(const ListingNews& news) {
  return nlohmann::json{{"files", news.files}, {"note", news.note}}.dump(-1, ' ', false, kReplace);
}
ListingNews listing_news_from(const std::string& text) {
  const auto json = ranks::json_from(text);
  ListingNews news{.files = json.at("files"), .note = json.at("note")};
  clean(news.note);
  return news;
}

}  // namespace feedrate::run
