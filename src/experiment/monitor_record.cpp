// What was seen once a second, of the host and of GPUs.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "experiment/rank_record.h"
#include "measure/clock.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

// The names of HostUse's members, as the record has them.
struct HostColumn {
  const char* name;
  double HostUse::* value;
};
constexpr HostColumn kShares[] = {{"cpu_busy", &HostUse::cpu_busy}, {"cpu_iowait", &HostUse::cpu_iowait}, {"cpu_steal", &HostUse::cpu_steal},
                                  {"cpu_other_processes", &HostUse::cpu_other_processes}, {"psi_cpu_some", &HostUse::psi_cpu_some},
                                  {"psi_io_some", &HostUse::psi_io_some}, {"psi_memory_some", &HostUse::psi_memory_some},
                                  {"cpu_quota_stopped", &HostUse::cpu_quota_stopped}};
constexpr HostColumn kAmounts[] = {{"disk_read_bytes_per_s", &HostUse::disk_read_bytes_per_s},
                                   {"network_receive_bytes_per_s", &HostUse::network_receive_bytes_per_s},
                                   {"memory_available_bytes", &HostUse::memory_available_bytes}, {"cpu_mhz", &HostUse::cpu_mhz}};

Json series_json(const RankResult& rank) {
  if (rank.host_series.empty()) return nullptr;
  Json json;
  const std::int64_t start = rank.steps[rank.first - 1].end_ns;
  for (const HostSample& sample : rank.host_series) json["at_s"].push_back(rounded(seconds(sample.at_ns - start)));
  for (const auto& [name, value] : kShares) {
    for (const HostSample& sample : rank.host_series) json[name].push_back(rounded(sample.use.*value));
  }
  for (const auto& [name, value] : kAmounts) {
    for (const HostSample& sample : rank.host_series) json[name].push_back(std::llround(sample.use.*value));
  }
  return json;
}

}  // namespace

Json gpu_json(const RankResult& rank) {
  if (rank.gpu.empty()) return nullptr;
  static constexpr struct {
    const char* name;
    double (*of)(const GpuState&);
  } kColumns[] = {{"utilisation_percent", [](const GpuState& s) -> double { return s.utilisation_percent; }},
                  {"memory_utilisation_percent", [](const GpuState& s) -> double { return s.memory_utilisation_percent; }},
                  {"sm_mhz", [](const GpuState& s) -> double { return s.sm_mhz; }},
                  {"memory_mhz", [](const GpuState& s) -> double { return s.memory_mhz; }},
                  {"power_w", [](const GpuState& s) { return s.power_w; }},
                  {"temperature_c", [](const GpuState& s) -> double { return s.temperature_c; }},
                  {"memory_used_mb", [](const GpuState& s) { return s.memory_used_mb; }},
                  {"pcie_rx_mb_s", [](const GpuState& s) { return s.pcie_rx_mb_s; }},
                  {"pcie_tx_mb_s", [](const GpuState& s) { return s.pcie_tx_mb_s; }}};
  Json json;
  const std::int64_t start = rank.steps[rank.first - 1].end_ns;
  for (const GpuSample& sample : rank.gpu) json["seconds"].push_back(rounded(seconds(sample.at_ns - start)));
  for (const auto& column : kColumns) {
    for (const GpuSample& sample : rank.gpu) json[column.name].push_back(rounded(column.of(sample.state)));
  }
  std::uint64_t reasons = 0;
  for (const GpuSample& sample : rank.gpu) reasons |= sample.state.throttle_reasons;
  json["throttled"] = throttle_text(reasons);
  return json;
}

double storage_read_bytes(const std::vector<RankResult>& ranks) {
  std::map<std::pair<std::string, int>, double> by_process;  // ranks that are threads of one see the same
  for (const RankResult& rank : ranks) {
    if (rank.host.storage_read_bytes < 0) return -1;
    double& most = by_process[{rank.place.host, rank.place.pid}];
    most = std::max(most, rank.host.storage_read_bytes);
  }
  double sum = 0;
  for (const auto& [process, bytes] : by_process) sum += bytes;
  return sum;
}

Json monitors_json(const std::vector<RankResult>& ranks) {
  Json json;
  for (const auto& [name, value] : kShares) json[name] = rounded(ranks.front().host.*value);
  json["usable_cpus_other_processes"] = rounded(ranks.front().host.usable_cpus_other_processes);
  json["storage_read_bytes"] = std::llround(storage_read_bytes(ranks));
  json["series"] = series_json(ranks.front());
  return json;
}

}  // namespace feedrate
