#include "experiment/rank_record.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "measure/clock.h"
#include "measure/statistics.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

double mean_wait_ms(const RankResult& r) {
  const auto from = r.data_wait_ms.begin();
  return summarise(std::vector<double>(from + static_cast<std::ptrdiff_t>(r.first), from + static_cast<std::ptrdiff_t>(r.last))).mean;
}

double mean_sync_ms(const RankResult& r) {
  double total = 0;
  for (std::size_t i = r.first; i < r.last; ++i) total += ms(r.steps[i].sync_ns);
  return total / static_cast<double>(r.last - r.first);
}

// "0-3,8" as in Linux's lists of CPUs.
std::string cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text.append("-").append(std::to_string(cpus[last]));
    i = last + 1;
  }
  return text;
}

}  // namespace

double rounded(double value) { return std::round(value * 1000) / 1000; }

double window_seconds(const RankResult& r) { return seconds(r.steps[r.last - 1].end_ns - r.steps[r.first - 1].end_ns); }

double window_seconds(const std::vector<RankResult>& ranks) {
  std::int64_t from = ranks.front().steps[ranks.front().first - 1].end_ns, to = from;
  for (const RankResult& rank : ranks) {
    from = std::max(from, rank.steps[rank.first - 1].end_ns);
    to = std::max(to, rank.steps[rank.last - 1].end_ns);
  }
  return seconds(to - from);
}

Json rank_json(std::size_t number, const RankResult& rank, int batch_size) {
  Json json = {{"rank", number},
               {"imgs_per_s",
                batch_size * static_cast<double>(rank.last - rank.first) / window_seconds(rank)},
               {"window_s", window_seconds(rank)},
               {"data_wait_ms_mean", rounded(mean_wait_ms(rank))},
               {"sync_ms_mean", rounded(mean_sync_ms(rank))}};
  json["gpu"] = gpu_json(rank);
  if (!rank.place.host.empty()) json.update({{"host", rank.place.host}, {"pid", rank.place.pid}, {"cpus", cpu_list(rank.place.cpus)}});
  return json;
}

Json straggler(const std::vector<RankResult>& ranks, double step_ms) {
  if (ranks.size() < 2) return nullptr;
  std::vector<std::pair<double, std::size_t>> waits;  // of each rank
  for (std::size_t r = 0; r < ranks.size(); ++r) waits.emplace_back(mean_sync_ms(ranks[r]), r);
  std::partial_sort(waits.begin(), waits.begin() + 2, waits.end());
  const double behind = waits[1].first - waits[0].first;
  if (behind < 0.05 * step_ms) return nullptr;
  return {{"rank", waits[0].second}, {"others_wait_ms", rounded(behind)}};
}

int cpus_of(const std::vector<RankResult>& ranks) {
  std::map<std::string, std::set<int>> of_host;
  for (const RankResult& rank : ranks) of_host[rank.place.host].insert(rank.place.cpus.begin(), rank.place.cpus.end());
  int all = 0;
  for (const auto& [host, cpus] : of_host) all += host.empty() ? allowed_cpus() : static_cast<int>(cpus.size());  // threads have no place
  return all;
}

}  // namespace feedrate
