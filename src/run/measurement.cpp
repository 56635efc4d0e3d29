#include "run/measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/steady_state.h"

namespace feedrate::run {
namespace {

StepSeries series_of(std::vector<double> values_ms) {
  const measure::Summary s = measure::summarise(values_ms);
  for (double& value : values_ms) value = rounded(value);
  return {{.mean = rounded(s.mean),
           .median = rounded(s.median),
           .p95 = rounded(s.p95),
           .p99 = rounded(s.p99),
           .max = rounded(s.max)},
          std::move(values_ms)};
}

std::int64_t window_start(const RankResult& rank) { return rank.steps[rank.first - 1].end_ns; }
std::int64_t window_end(const RankResult& rank) { return rank.steps[rank.last - 1].end_ns; }

// From the last rank's start to the last one's end.
void add_window(Measurement& m, const std::vector<RankResult>& ranks) {
  std::int64_t to = m.window_start_ns = window_start(ranks.front());
  for (const RankResult& rank : ranks) {
    m.window_start_ns = std::max(m.window_start_ns, window_start(rank));
    to = std::max(to, window_end(rank));
  }
  m.window_s = measure::seconds(to - m.window_start_ns);
}

std::vector<double> waits_of(const RankResult& rank) {
  const auto begin = rank.data_wait_ms.begin();
  return {begin + static_cast<std::ptrdiff_t>(rank.first),
          begin + static_cast<std::ptrdiff_t>(rank.last)};
}

double mean_sync_ms(const RankResult& rank) {
  double total = 0;
  for (std::size_t i = rank.first; i < rank.last; ++i) total += measure::ms(rank.steps[i].sync_ns);
  return total / static_cast<double>(rank.last - rank.first);
}

// How long the device worked on step i. A rank whose batch came early waits within its step for the
// rank whose batch came last, so the shortest step is the work.
double busy_ms(const std::vector<RankResult>& ranks, std::size_t i) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (const RankResult& rank : ranks)
    shortest = std::min(shortest, rank.steps[i].end_ns - rank.steps[i].start_ns);
  return measure::ms(shortest);
}

template <typename Sample>
std::vector<Sample> from_start(std::vector<Sample> samples, std::int64_t start_ns) {
  for (Sample& sample : samples) sample.at_ns -= start_ns;
  return samples;
}

// The rank that waits least, if half of the others or more wait longer by kStraggles of a step:
// ranks of one machine may straggle together.
std::optional<Straggler> straggler_of(const std::vector<RankResult>& ranks, double step_ms) {
  if (ranks.size() < 2) return std::nullopt;
  std::vector<std::pair<double, std::size_t>> waits;  // of each rank
  for (std::size_t r = 0; r < ranks.size(); ++r) waits.emplace_back(mean_sync_ms(ranks[r]), r);
  std::ranges::sort(waits);
  const double behind = waits[waits.size() / 2].first - waits.front().first;
  if (behind < kStraggles * step_ms) return std::nullopt;
  return Straggler{waits.front().second, rounded(behind)};
}

// The ranks of each machine, rank 0's first. Those that are threads of the program have no place.
using OfMachine = std::vector<const RankResult*>;
std::vector<OfMachine> by_machine(const std::vector<RankResult>& ranks) {
  std::vector<OfMachine> machines;
  for (const RankResult& rank : ranks) {
    const auto known = std::ranges::find_if(machines, [&](const OfMachine& machine) {
      return machine.front()->place.host == rank.place.host;
    });
    if (known == machines.end()) {
      machines.push_back({&rank});
    } else {
      known->push_back(&rank);
    }
  }
  return machines;
}

int cpus_of(const OfMachine& ranks) {
  if (ranks.front()->place.host.empty()) return measure::allowed_cpus();
  std::set<int> cpus;
  for (const RankResult* rank : ranks)
    cpus.insert(rank->place.cpus.begin(), rank->place.cpus.end());
  return static_cast<int>(cpus.size());
}

// CPUs' time: a quota may leave less of it than there are CPUs. Ranks of one control group share
// its quota; those of several have as many.
double cpu_capacity_of(const OfMachine& ranks) {
  std::map<std::string, double> quotas;
  for (const RankResult* rank : ranks) {
    if (rank->place.quota.cpus < 0) return cpus_of(ranks);
    quotas[rank->place.quota.group] = rank->place.quota.cpus;
  }
  double all = 0;
  for (const auto& [group, cpus] : quotas) all += cpus;
  return std::min<double>(cpus_of(ranks), all);
}

bool may_share_cpus(const OfMachine& ranks) {
  std::set<int> seen;
  for (const RankResult* rank : ranks) {
    for (const int cpu : rank->place.cpus) {
      if (!seen.insert(cpu).second) return true;
    }
  }
  return false;
}

// Each process counts the other ranks' as other processes; their CPU time is not other work.
MachineUse use_of(const OfMachine& ranks) {
  MachineUse machine{ranks.front()->place.host, ranks.front()->host};
  measure::HostUse& use = machine.use;
  std::map<int, const RankResult*> processes;
  for (const RankResult* rank : ranks) {
    processes.emplace(rank->place.pid, rank);
    use.cpu_quota_stopped = std::max(use.cpu_quota_stopped, rank->host.cpu_quota_stopped);
    use.usable_cpus_other_processes =
        std::max(use.usable_cpus_other_processes, rank->host.usable_cpus_other_processes);
  }
  if (processes.size() < 2 || use.cpu_busy < 0) return machine;
  double others = use.cpu_busy;
  for (const auto& [pid, rank] : processes)
    others -= rank->host.cpu_busy - rank->host.cpu_other_processes;
  use.cpu_other_processes = std::max(0.0, others);
  if (may_share_cpus(ranks)) use.usable_cpus_other_processes = use.cpu_other_processes;
  return machine;
}

// Ranks that are threads of one process see the same bytes.
double storage_read_bytes(const std::vector<RankResult>& ranks) {
  std::map<std::pair<std::string, int>, double> by_process;
  for (const RankResult& rank : ranks) {
    if (rank.host.storage_read_bytes < 0) return -1;
    double& most = by_process[{rank.place.host, rank.place.pid}];
    most = std::max(most, rank.host.storage_read_bytes);
  }
  double sum = 0;
  for (const auto& [process, bytes] : by_process) sum += bytes;
  return sum;
}

void add_steps(Measurement& m, const std::vector<RankResult>& ranks, double images_per_step) {
  const RankResult& first = ranks.front();
  const std::vector<double> durations = step_durations(first.steps, first.first, first.last);
  m.ci95 = measure::block_interval(durations, images_per_step);
  const double drawn = std::abs(m.drawn_from_queue);
  if (drawn >= 1) m.ci95.reset();  // nothing is known of the rate of loading
  if (m.ci95) {
    m.ci95->low *= 1 - drawn;
    m.ci95->high *= 1 + drawn;
  }
  m.changing = measure::is_changing(durations);
  std::vector<double> steps_ms, idle_ms, busy_s;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    steps_ms.push_back(1e3 * durations[i]);
    idle_ms.push_back(std::max(0.0, steps_ms[i] - busy_ms(ranks, first.first + i)));
    busy_s.push_back(1e-3 * (steps_ms[i] - idle_ms[i]));
  }
  const double busy = std::accumulate(busy_s.begin(), busy_s.end(), 0.0);
  m.device_rate = {busy > 0 ? images_per_step * static_cast<double>(busy_s.size()) / busy : 0,
                   measure::block_interval(busy_s, images_per_step)};
  const double idle = std::accumulate(idle_ms.begin(), idle_ms.end(), 0.0);
  m.device_idle_fraction = 1e-3 * idle / measure::seconds(window_end(first) - window_start(first));
  m.step_ms = series_of(std::move(steps_ms));
  m.device_idle_ms = series_of(std::move(idle_ms));
  m.data_wait_ms = series_of(waits_of(first));
}

// The same block of each rank; empty where one lacks it.
std::vector<const BlockSpan*> spans_of(const std::vector<RankResult>& ranks, std::int64_t block) {
  std::vector<const BlockSpan*> spans;
  for (const RankResult& rank : ranks) {
    const auto span = std::ranges::find(rank.blocks, block, &BlockSpan::block);
    if (span == rank.blocks.end()) return {};
    spans.push_back(&*span);
  }
  return spans;
}

BlockResult block_of(const std::vector<RankResult>& ranks,
                     const std::vector<const BlockSpan*>& spans, double images_per_step) {
  const BlockSpan& span = *spans.front();
  const auto step = [&](std::int64_t i) {
    return ranks.front().steps[static_cast<std::size_t>(i)];
  };
  const double seconds = measure::seconds(step(span.last - 1).end_ns - step(span.first - 1).end_ns);
  BlockResult block{.block = static_cast<std::size_t>(span.block), .seconds = seconds};
  if (seconds <= 0) return block;
  block.taken_per_s = images_per_step * static_cast<double>(span.last - span.first) / seconds;
  if (span.made >= 0) block.made_per_s = 0;
  double made = 0, extra_reads = 0;
  for (const BlockSpan* its : spans) {
    block.stages += its->stages;
    if (span.made >= 0)
      block.made_per_s += static_cast<double>(its->made) / std::max(its->seconds, 1e-9);
    made += static_cast<double>(its->made);
    extra_reads += static_cast<double>(its->extra_reads);
  }
  if (made > 0) block.extra_reads = extra_reads / made;
  double idle_s = 0;
  for (std::int64_t i = span.first; i < span.last; ++i)
    idle_s += std::max(0.0, measure::seconds(step(i).start_ns - step(i - 1).end_ns));
  block.idle_fraction = idle_s / seconds;
  return block;
}

// Only those that all ranks have measured: they end at the same step.
void add_blocks(Measurement& m, const std::vector<RankResult>& ranks, double images_per_step) {
  for (const BlockSpan& span : ranks.front().blocks) {
    const auto spans = spans_of(ranks, span.block);
    if (spans.empty()) continue;
    const BlockResult block = block_of(ranks, spans, images_per_step);
    if (block.seconds > 0) m.blocks.push_back(block);
  }
}

void add_surroundings(Measurement& m, const std::vector<RankResult>& ranks) {
  const RankResult& first = ranks.front();
  for (const OfMachine& machine : by_machine(ranks)) {
    m.cpus += cpus_of(machine);
    m.cpu_capacity += cpu_capacity_of(machine);
    m.machines.push_back(use_of(machine));
  }
  m.opencv_threads = first.opencv_threads;
  m.process = first.process;
  m.host_series = from_start(first.host_series, window_start(first));
  m.storage_read_bytes = storage_read_bytes(ranks);
  m.storage_counters = first.storage_counters;
  m.device = first.device;
}

void add_worst_ranks(Measurement& m, const std::vector<RankResult>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    m.drawn_mean += ranks[r].drawn_from_queue / static_cast<double>(ranks.size());
    if (std::abs(ranks[r].drawn_from_queue) > std::abs(m.drawn_from_queue))
      m.drawn_from_queue = ranks[r].drawn_from_queue, m.drawn_rank = r;
    if (ranks[r].standstills.all_s() > m.standstills.all_s())
      m.standstills = ranks[r].standstills, m.standstill_rank = r;
  }
}

}  // namespace

double kept_up(double imgs_per_s, double drawn_mean) {
  return imgs_per_s * (1 - std::max(0.0, drawn_mean));
}

double kept_up(const Measurement& m) { return kept_up(m.imgs_per_s, m.drawn_mean); }

double rounded(double value) { return std::round(value * 1000) / 1000; }

RankMeasurement measurement_of(const plan::CellSettings& settings, const RankResult& rank) {
  const double window_s = measure::seconds(window_end(rank) - window_start(rank));
  return {
      .imgs_per_s = settings.batch_size * static_cast<double>(rank.last - rank.first) / window_s,
      .window_s = window_s,
      .data_wait_ms = rounded(measure::summarise(waits_of(rank)).mean),
      .sync_ms = rounded(mean_sync_ms(rank)),
      .place = rank.place,
      .gpu = from_start(rank.gpu, window_start(rank)),
      .gpu_problem = rank.gpu_problem};
}

Measurement measurement_of(const plan::CellSettings& settings, const RankAnswer& answer) {
  const std::vector<RankResult>& ranks = answer.ranks;
  const RankResult& first = ranks.front();
  Measurement m;
  double images = 0;
  for (const RankResult& rank : ranks) {
    images +=
        static_cast<double>(settings.batch_size) * static_cast<double>(rank.last - rank.first);
    m.ranks.push_back(measurement_of(settings, rank));
    m.stages += rank.stages;
    m.latencies += rank.latencies;
    m.arrivals += rank.arrivals;
  }
  add_window(m, ranks);
  m.imgs_per_s = images / m.window_s;
  m.steps = static_cast<std::int64_t>(first.last - first.first);
  m.images = m.steps * settings.batch_size * settings.gpus;
  m.warmup_steps = static_cast<std::int64_t>(first.first);
  m.warmup_s = measure::seconds(window_start(first) - first.steps.front().start_ns);
  m.steady = first.steady;
  add_worst_ranks(m, ranks);
  add_steps(m, ranks, static_cast<double>(settings.batch_size) * settings.gpus);
  add_blocks(m, ranks, static_cast<double>(settings.batch_size) * settings.gpus);
  m.queue_capacity = first.samples_ahead_limit;
  m.loader_library = first.loader_library;
  m.bad = answer.bad;
  m.loss_last = first.steps.back().loss;
  m.page_cache = answer.page_cache;
  m.trace = answer.trace;
  m.straggler = straggler_of(ranks, m.step_ms.summary.mean);
  add_surroundings(m, ranks);
  return m;
}

}  // namespace feedrate::run
