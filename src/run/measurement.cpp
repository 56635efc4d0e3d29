#include "run/measurement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/steady_state.h"
#include "plan/set_rate.h"

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

// Steps [first, last) of a run.
struct Part {
  std::size_t first = 0, last = 0;
};
using Parts = std::vector<Part>;

Part steps_in(const BlockSpan& span) {
  return {static_cast<std::size_t>(span.first), static_cast<std::size_t>(span.last)};
}

// The blocks of one kind.
Parts blocks_of(const RankResult& rank, bool of_ceiling) {
  Parts parts;
  for (const BlockSpan& span : rank.blocks)
    if (span.is_ceiling == of_ceiling) parts.push_back(steps_in(span));
  return parts;
}

// What the run's figures are of: the window, or the cell's blocks. All ranks have rank 0's.
Parts parts_of(const RankResult& rank) {
  return rank.in_pairs ? blocks_of(rank, /*of_ceiling=*/false) : Parts{{rank.first, rank.last}};
}

std::size_t steps_of(const Parts& parts) {
  std::size_t steps = 0;
  for (const Part& part : parts) steps += part.last - part.first;
  return steps;
}

std::vector<double> durations_of(const RankResult& rank, const Parts& parts) {
  std::vector<double> all;
  for (const Part& part : parts)
    std::ranges::copy(step_durations(rank.steps, part.first, part.last), std::back_inserter(all));
  return all;
}

// From the last rank's start of the part to the last one's end.
double seconds_of(const std::vector<RankResult>& ranks, const Part& part) {
  std::int64_t from = ranks.front().steps[part.first - 1].end_ns,
               to = ranks.front().steps[part.last - 1].end_ns;
  for (const RankResult& rank : ranks) {
    from = std::max(from, rank.steps[part.first - 1].end_ns);
    to = std::max(to, rank.steps[part.last - 1].end_ns);
  }
  return measure::seconds(to - from);
}

void add_window(Measurement& m, const std::vector<RankResult>& ranks) {
  m.window_start_ns = window_start(ranks.front());
  for (const RankResult& rank : ranks)
    m.window_start_ns = std::max(m.window_start_ns, window_start(rank));
  for (const Part& part : parts_of(ranks.front())) m.window_s += seconds_of(ranks, part);
}

std::vector<double> waits_of(const RankResult& rank, const Parts& parts) {
  std::vector<double> waits;
  for (const Part& part : parts) {
    const auto begin = rank.data_wait_ms.begin();
    waits.insert(waits.end(), begin + static_cast<std::ptrdiff_t>(part.first),
                 begin + static_cast<std::ptrdiff_t>(part.last));
  }
  return waits;
}

double mean_sync_ms(const RankResult& rank, const Parts& parts) {
  double total = 0;
  for (const Part& part : parts) {
    for (std::size_t i = part.first; i < part.last; ++i)
      total += measure::ms(rank.steps[i].sync_ns);
  }
  return total / static_cast<double>(steps_of(parts));
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
  const Parts parts = parts_of(ranks.front());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    waits.emplace_back(mean_sync_ms(ranks[r], parts), r);
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

// Of a machine's ranks, the CPUs of the one whose neighbours took most of its own. The first rank
// alone looks at the kernel's threads: of other ranks' CPUs these have the machine's mean.
void keep_more_crowded(measure::HostUse& use, measure::HostUse rank) {
  if (rank.usable_cpus_kernel_threads < 0) {
    rank.usable_cpus_kernel_threads = use.cpu_kernel_threads;
    rank.usable_cpus_interrupts = use.cpu_interrupts;
  }
  if (rank.usable_cpus_neighbours() <= use.usable_cpus_neighbours()) return;
  use.usable_cpus_other_processes = rank.usable_cpus_other_processes;
  use.usable_cpus_kernel_threads = rank.usable_cpus_kernel_threads;
  use.usable_cpus_interrupts = rank.usable_cpus_interrupts;
}

// Each process counts the other ranks' as other processes; their CPU time is not other work.
MachineUse use_of(const OfMachine& ranks) {
  MachineUse machine{ranks.front()->place.host, ranks.front()->host};
  measure::HostUse& use = machine.use;
  std::map<int, const RankResult*> processes;
  for (const RankResult* rank : ranks) {
    processes.emplace(rank->place.pid, rank);
    use.cpu_quota_stopped = std::max(use.cpu_quota_stopped, rank->host.cpu_quota_stopped);
    keep_more_crowded(use, rank->host);
  }
  if (processes.size() < 2 || use.cpu_busy < 0) return machine;
  double others = use.cpu_busy;
  for (const auto& [pid, rank] : processes)
    others -= rank->host.cpu_busy - rank->host.cpu_other_processes;
  use.cpu_other_processes = std::max(0.0, others);
  if (!may_share_cpus(ranks)) return machine;
  use.usable_cpus_other_processes = use.cpu_other_processes;
  use.usable_cpus_kernel_threads = use.cpu_kernel_threads;
  use.usable_cpus_interrupts = use.cpu_interrupts;
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

// How long the device worked in each step, and waited.
struct DeviceTimes {
  std::vector<double> busy_s, idle_ms;
  double idle_s() const { return 1e-3 * std::accumulate(idle_ms.begin(), idle_ms.end(), 0.0); }
};

DeviceTimes device_times_of(const std::vector<RankResult>& ranks, const Parts& parts) {
  DeviceTimes times;
  const std::vector<device::StepRecord>& steps = ranks.front().steps;
  for (const Part& part : parts) {
    for (std::size_t i = part.first; i < part.last; ++i) {
      const double step_ms = measure::ms(steps[i].end_ns - steps[i - 1].end_ns);
      times.idle_ms.push_back(std::max(0.0, step_ms - busy_ms(ranks, i)));
      times.busy_s.push_back(1e-3 * (step_ms - times.idle_ms.back()));
    }
  }
  return times;
}

DeviceRate device_rate_of(const DeviceTimes& times, double images_per_step) {
  const double busy = std::accumulate(times.busy_s.begin(), times.busy_s.end(), 0.0);
  return {busy > 0 ? images_per_step * static_cast<double>(times.busy_s.size()) / busy : 0,
          measure::block_interval(times.busy_s, images_per_step)};
}

// The interval that the steps or pairs give the rate or share `value`, widened by what was drawn
// from the queue and without what lies above `most`. None if all of it was drawn: nothing is known
// of the rate of loading.
std::optional<measure::Interval> interval_of(const std::optional<measure::Interval>& found,
                                             const Measurement& m, double value,
                                             std::optional<double> most) {
  const double drawn = std::abs(m.drawn_from_queue);
  if (!found || drawn >= 1) return std::nullopt;
  const measure::Interval wide = measure::widened(*found, drawn);
  return most ? measure::cut_at(*most, wide, value) : wide;
}

void add_steps(Measurement& m, const plan::CellSettings& settings,
               const std::vector<RankResult>& ranks, double images_per_step) {
  const RankResult& first = ranks.front();
  const Parts parts = parts_of(first);
  const std::vector<double> durations = durations_of(first, parts);
  m.ci95 = interval_of(measure::block_interval(durations, images_per_step), m, m.imgs_per_s,
                       plan::bound_of(settings));
  m.changing = measure::is_changing(durations);
  DeviceTimes times = device_times_of(ranks, parts);
  m.device_rate = device_rate_of(times, images_per_step);
  m.device_idle_fraction =
      times.idle_s() / std::accumulate(durations.begin(), durations.end(), 0.0);
  std::vector<double> steps_ms;
  for (const double duration : durations) steps_ms.push_back(1e3 * duration);
  m.step_ms = series_of(std::move(steps_ms));
  m.device_idle_ms = series_of(std::move(times.idle_ms));
  m.data_wait_ms = series_of(waits_of(first, parts));
}

void add_pairs(Measurement& m, const std::vector<RankResult>& ranks, double images_per_step) {
  const RankResult& first = ranks.front();
  MeasuredPairs all{.took_s = first.pairs_took_s};
  std::vector<measure::WorkPair> work;
  const auto busy_s = [&](const Part& part) {
    const std::vector<double> steps = device_times_of(ranks, {part}).busy_s;
    return std::accumulate(steps.begin(), steps.end(), 0.0);
  };
  double images = 0, seconds = 0;  // of the ceiling
  for (std::size_t b = 0; b + 1 < first.blocks.size(); b += 2) {
    const bool ceiling_first = first.blocks[b].is_ceiling;
    const BlockSpan& its = first.blocks[ceiling_first ? b : b + 1];
    const Part ceiling = steps_in(its), cell = steps_in(first.blocks[ceiling_first ? b + 1 : b]);
    all.pairs.push_back({.cell_steps = static_cast<std::int64_t>(cell.last - cell.first),
                         .ceiling_steps = static_cast<std::int64_t>(ceiling.last - ceiling.first),
                         .cell_s = seconds_of(ranks, cell),
                         .ceiling_s = seconds_of(ranks, ceiling),
                         .cell_busy_s = busy_s(cell),
                         .ceiling_busy_s = busy_s(ceiling),
                         .ceiling_first = ceiling_first,
                         .ceiling_disturbed = its.is_disturbed});
    const MeasuredPair& pair = all.pairs.back();
    work.push_back({{images_per_step * static_cast<double>(pair.cell_steps), pair.cell_s},
                    {images_per_step * static_cast<double>(pair.ceiling_steps), pair.ceiling_s}});
    images += work.back().ceiling.images;
    seconds += pair.ceiling_s;
  }
  all.ceiling_imgs_per_s = images / seconds;
  all.ceiling_device = device_rate_of(device_times_of(ranks, blocks_of(first, /*of_ceiling=*/true)),
                                      images_per_step);
  // No share of a device whose rate is set exceeds 1.
  const auto most = first.device.kind == "emulated" ? std::optional(1.0) : std::nullopt;
  all.share = measure::share_of_pairs(work);
  all.share.ci95 = interval_of(all.share.ci95, m, all.share.share, most);
  m.pairs = std::move(all);
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
      block.made_per_s += static_cast<double>(its->made) / std::max(its->made_in_s, 1e-9);
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
  if (m.machines.size() == 1)
    m.storage_other_read_bytes = measure::read_by_others(m.storage_counters, m.storage_read_bytes);
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

RankMeasurement rank_measurement_of(const plan::CellSettings& settings, const RankResult& rank,
                                    const Parts& parts) {
  const std::vector<double> durations = durations_of(rank, parts);
  const double window_s = std::accumulate(durations.begin(), durations.end(), 0.0);
  return {.imgs_per_s = settings.batch_size * static_cast<double>(steps_of(parts)) / window_s,
          .window_s = window_s,
          .data_wait_ms = rounded(measure::summarise(waits_of(rank, parts)).mean),
          .sync_ms = rounded(mean_sync_ms(rank, parts)),
          .place = rank.place,
          .gpu = from_start(rank.gpu, window_start(rank)),
          .gpu_problem = rank.gpu_problem};
}

SkippedSamples skipped_of(const pipeline::BadTotals& bad) {
  SkippedSamples skipped{.count = bad.count,
                         .pictures = static_cast<std::int64_t>(bad.pictures.size()),
                         .drawn = bad.different_drawn(),
                         .of = bad.of};
  for (const auto& [sample, error] : bad.named) skipped.named.push_back(error);
  return skipped;
}

}  // namespace

std::optional<measure::PairedShare> device_share_of(std::span<const MeasuredPair> pairs) {
  std::vector<measure::WorkPair> work;
  for (const MeasuredPair& pair : pairs) {
    if (pair.cell_busy_s <= 0 || pair.ceiling_busy_s <= 0) return std::nullopt;
    work.push_back({{static_cast<double>(pair.cell_steps), pair.cell_busy_s},
                    {static_cast<double>(pair.ceiling_steps), pair.ceiling_busy_s}});
  }
  if (work.empty()) return std::nullopt;
  return measure::share_of_pairs(work);
}

double sustained_rate(double imgs_per_s, double drawn_mean) {
  return imgs_per_s * (1 - std::max(0.0, drawn_mean));
}

double sustained_rate(const Measurement& m) { return sustained_rate(m.imgs_per_s, m.drawn_mean); }

double rounded(double value) { return std::round(value * 1000) / 1000; }

double measured_s(const Measurement& m) {
  return m.pairs ? m.pairs->took_s : m.ranks.front().window_s;
}

RankMeasurement measurement_of(const plan::CellSettings& settings, const RankResult& rank) {
  return rank_measurement_of(settings, rank, parts_of(rank));
}

Measurement measurement_of(const plan::CellSettings& settings, const RankAnswer& answer) {
  const std::vector<RankResult>& ranks = answer.ranks;
  const RankResult& first = ranks.front();
  Measurement m;
  const Parts parts = parts_of(first);
  const double images_per_step =
      static_cast<double>(settings.batch_size) * static_cast<double>(ranks.size());
  for (const RankResult& rank : ranks) {
    m.ranks.push_back(rank_measurement_of(settings, rank, parts));
    m.stages += rank.stages;
    m.latencies += rank.latencies;
    m.arrivals += rank.arrivals;
    m.first_batch_ns = std::max(m.first_batch_ns, rank.first_batch_ns);
  }
  add_window(m, ranks);
  m.steps = static_cast<std::int64_t>(steps_of(parts));
  m.imgs_per_s = images_per_step * static_cast<double>(m.steps) / m.window_s;
  m.images = m.steps * settings.batch_size * settings.gpus;
  m.warmup_steps = static_cast<std::int64_t>(first.first);
  m.warmup_s = measure::seconds(window_start(first) - first.steps.front().start_ns);
  m.steady = first.steady;
  add_worst_ranks(m, ranks);
  add_steps(m, settings, ranks, images_per_step);
  if (first.in_pairs) {
    add_pairs(m, ranks, images_per_step);
  } else {
    add_blocks(m, ranks, images_per_step);
  }
  m.queue_capacity = first.samples_ahead_limit;
  m.loader_library = first.loader_library;
  m.bad = skipped_of(answer.bad);
  if (answer.stray_bytes.is_counted)
    m.stray_pictures = static_cast<std::int64_t>(answer.stray_bytes.samples.size());
  m.loss_last = first.steps.back().loss;
  m.page_cache = answer.page_cache;
  m.trace = answer.trace;
  m.straggler = straggler_of(ranks, m.step_ms.summary.mean);
  add_surroundings(m, ranks);
  return m;
}

}  // namespace feedrate::run
