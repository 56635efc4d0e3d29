#include "run/wire.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "plan/axes.h"

// The JSON library looks for the functions that write and read a type in the type's own namespace.
// The two are each other's inverse. NaNs travel as null.
namespace feedrate::measure {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTotal, wall_ns, cpu_ns, items, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTotals, stage)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostUse, cpu_busy, cpu_iowait, cpu_steal, cpu_other_processes,
                                   usable_cpus_other_processes, psi_cpu_some, psi_io_some,
                                   psi_memory_some, cpu_quota_stopped, disk_read_bytes_per_s,
                                   network_receive_bytes_per_s, storage_read_bytes,
                                   memory_available_bytes, cpu_mhz)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostSample, at_ns, use)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessSize, threads, resident_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuState, utilisation_percent, memory_utilisation_percent,
                                   sm_mhz, memory_mhz, power_w, temperature_c, memory_used_mb,
                                   pcie_rx_mb_s, pcie_tx_mb_s, throttle_reasons)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GpuSample, at_ns, state)
}  // namespace feedrate::measure

namespace feedrate::pipeline {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlantedStage, ns, spike_ns, every, free_first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BadTotals, count, first)
}  // namespace feedrate::pipeline

namespace feedrate::device {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DecodedBy, engine, processors, host)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arrivals, batches, busy_ns, decoded)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceDescription, name, kind, step_ms, bus_bytes_per_s,
                                   software, source, precision, caveat, pci_address)

// As four numbers: there are many.
static void to_json(nlohmann::json& j, const StepRecord& s) {
  j = {s.start_ns, s.end_ns, s.loss, s.sync_ns};
}
static void from_json(const nlohmann::json& j, StepRecord& s) {
  const double loss =
      j[2].is_null() ? std::numeric_limits<double>::quiet_NaN() : j[2].get<double>();
  s = {j[0], j[1], loss, j[3]};
}
}  // namespace feedrate::device

namespace feedrate::run {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunLimits, warmup_seconds, max_warmup_seconds, min_steps,
                                   min_seconds, max_seconds, stall_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunProgress, phase, steps, imgs_per_s, device_idle, elapsed_s,
                                   remaining_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlace, host, pid, cpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankResult, steps, data_wait_ms, first, last, steady,
                                   drawn_from_queue, stages, arrivals, host, host_series,
                                   samples_ahead_limit, loader_library, opencv_threads, process,
                                   device, place, gpu, gpu_problem)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankAnswer, ranks, bad, page_cache_before, page_cache_after)

// File names need not be UTF-8; such a text shows where it is not.
static constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

// Deeper than any text of ours. A real number stays below what an int64 holds, so that it can be
// converted.
constexpr int kDeepest = 16;
constexpr double kLargest = 4e18;

static nlohmann::json parsed(const std::string& text) {
  using Event = nlohmann::json::parse_event_t;
  const auto look = [](int depth, Event event, const nlohmann::json& value) {
    if (depth > kDeepest) throw std::invalid_argument("its values are nested too deeply");
    if (event == Event::value && value.is_number_float() &&
        !(std::abs(value.get<double>()) <= kLargest))
      throw std::invalid_argument("a number in it is too large");
    return true;
  };
  return nlohmann::json::parse(text, look);
}

// What computing with a result relies on.
static void check(const RankResult& rank) {
  const auto sound = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
  };
  sound(0 < rank.first && rank.first < rank.last && rank.last <= rank.steps.size() &&
            rank.last <= rank.data_wait_ms.size(),
        "its window is not within its steps");
  sound(rank.steps[rank.first - 1].end_ns < rank.steps[rank.last - 1].end_ns,
        "its window takes no time");
  for (const measure::StageTotal& stage : rank.stages.stage)
    sound(stage.wall_ns >= 0 && stage.cpu_ns >= 0 && stage.items >= 0 && stage.bytes >= 0,
          "a stage of it has a negative total");
  sound(rank.samples_ahead_limit >= 0 && rank.opencv_threads >= 0, "a count in it is negative");
}

std::string to_text(const RankOrder& order) {
  nlohmann::json cell = nlohmann::json::object();
  for (const plan::Axis& axis : plan::axes()) {
    if (const auto& value = order.cell[axis.name]) cell[std::string(axis.name)] = *value;
  }
  const RunOptions& o = order.options;
  return nlohmann::json{{"cell", cell},
                        {"manifest", order.manifest},
                        {"data", o.data.string()},
                        {"limits", o.limits},
                        {"seed", o.seed},
                        {"planted", o.planted},
                        {"plant", o.plant}}
      .dump(-1, ' ', false, kReplace);
}

RankOrder order_from(const std::string& text) {
  const auto json = parsed(text);
  RankOrder order{.manifest = json["manifest"]};
  for (const auto& [axis, value] : json["cell"].items())
    order.cell.set(axis, value.get<std::string>());
  order.options = {.data = json["data"].get<std::string>(),
                   .limits = json["limits"],
                   .seed = json["seed"],
                   .planted = json["planted"],
                   .plant = json["plant"]};
  return order;
}

std::string to_text(const RankAnswer& answer) {
  return nlohmann::json(answer).dump(-1, ' ', false, kReplace);
}
RankAnswer answer_from(const std::string& text) {
  RankAnswer answer = parsed(text).get<RankAnswer>();
  for (const RankResult& rank : answer.ranks) check(rank);
  return answer;
}
std::string to_text(const RunProgress& progress) { return nlohmann::json(progress).dump(); }
RunProgress progress_from(const std::string& text) { return parsed(text).get<RunProgress>(); }

}  // namespace feedrate::run
