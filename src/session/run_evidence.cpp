#include "session/run_evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "judge/reads_in_flight.h"
#include "measure/clock.h"

namespace feedrate::session {
namespace {

double least_sync_ms(const std::vector<run::RankMeasurement>& ranks) {
  if (ranks.size() < 2) return 0;
  return std::ranges::min_element(ranks, {}, &run::RankMeasurement::sync_ms)->sync_ms;
}

double open_share(const storage::ReadLatencies& latencies) {
  const auto read_ns = latencies.percentile_ns(0.5);
  if (latencies.opens.count() == 0 || !read_ns || *read_ns <= 0) return 0;
  return static_cast<double>(latencies.opens.percentile_ns(0.5)) / static_cast<double>(*read_ns);
}

// The CPU time of the processes of all ranks, which are taken to be like rank 0's: seconds; 0:
// unknown.
double all_cpu_s(const run::Measurement& m) {
  std::set<std::pair<std::string, int>> processes;
  for (const run::RankMeasurement& rank : m.ranks)
    processes.emplace(rank.place.host, rank.place.pid);
  const double each_s = std::max(0.0, m.machines.front().use.process_cpu_s);
  return each_s * static_cast<double>(std::max<std::size_t>(1, processes.size()));
}

// What an image costs beside the loaders; 0: unknown.
double step_cpu_s(const run::Measurement& m) {
  double others_s = all_cpu_s(m);
  if (others_s <= 0 || m.images <= 0) return 0;
  for (const measure::StageTotal& stage : m.stages.stage)
    others_s -= measure::seconds(stage.cpu_ns);
  return std::max(0.0, others_s) / static_cast<double>(m.images);
}

}  // namespace

void add_run(const run::Measurement& m, judge::LadderRung rung, judge::RoundEvidence& round) {
  round.rates[rung] = run::sustained_rate(m);
  if (rung == judge::LadderRung::cpus) round.cpus_busy = cpus_busy(m);
}

void add_own_run(const plan::CellSettings& settings, const run::Measurement& m,
                 std::vector<judge::Capacity> capacities, judge::RoundEvidence& round) {
  round.undelayed = m.stages;
  round.capacities = std::move(capacities);
  if (const auto reads = judge::reads_in_flight_of(settings, m.latencies))
    judge::add_reads_in_flight(round.capacities, *reads, m.imgs_per_s);
  round.step_cpu_s = step_cpu_s(m);
  round.all_reduce_share = judge::all_reduce_share(least_sync_ms(m.ranks), m.step_ms.summary.mean,
                                                   m.device_idle_fraction);
  for (const run::MachineUse& machine : m.machines)
    round.cpu_quota_stopped = std::max(round.cpu_quota_stopped, machine.use.cpu_quota_stopped);
  round.open_share = open_share(m.latencies);
  round.page_cache = m.page_cache.state;
}

double cpus_busy(const run::Measurement& m) {
  const double there_s = m.window_s * m.cpu_capacity;
  return there_s > 0 && !m.machines.empty() ? all_cpu_s(m) / there_s : 0;
}

double usable_cpus(const run::Measurement& m) { return std::max(1.0, m.cpu_capacity); }

}  // namespace feedrate::session
