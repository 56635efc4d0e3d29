#include "run/rank_counters.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "measure/affinity.h"
#include "measure/clock.h"
#include "run/rank.h"

namespace feedrate::run {
namespace {

void add_counters(std::vector<measure::StorageCounter>& sum,
                  const std::vector<measure::StorageCounter>& more) {
  for (const measure::StorageCounter& counter : more) {
    const auto known = std::ranges::find(sum, counter.name, &measure::StorageCounter::name);
    if (known == sum.end()) {
      sum.push_back(counter);
    } else {
      known->read_bytes += counter.read_bytes;
    }
  }
}

// Where the cell reads files.
std::optional<measure::StorageCounters> counters_below(const RankTask& task) {
  if (!task.recipe || !task.settings.reads_storage()) return std::nullopt;
  const storage::DatasetVariant& dataset = *task.recipe->dataset;
  // To find them, the folder is looked at, and what it lies in: either may hang.
  storage::OutstandingReads* reads = task.recipe->reads.get();
  const storage::Waiting waiting(reads ? &reads->add() : nullptr, dataset.samples.front());
  return measure::StorageCounters(dataset.folder);
}

}  // namespace

RankCounters::RankCounters(const RankTask& task, const device::Group& group, const RankSetup& setup)
    : loader_(setup.loader.get()),
      device_(*setup.device),
      below_(group.rank() == 0 ? counters_below(task) : std::nullopt),
      is_first_of_machine_(group.local_rank() == 0) {}

RankCounters::Reading RankCounters::read_run() const {
  Reading now{.stages = stages(),
              .latencies = {},
              .arrivals = device_.arrivals(),
              .process_cpu_ns = measure::process_cpu_ns(),
              .host = {},
              .below = {}};
  if (loader_) loader_->add_latencies(now.latencies);
  if (below_) now.below = below_->read();
  return now;
}

measure::StageTotals RankCounters::stages() const {
  return loader_ ? loader_->stages() : measure::StageTotals{};
}

void RankCounters::Sum::add(const Reading& from, const Reading& to) {
  stages += to.stages;
  stages -= from.stages;
  latencies += to.latencies;
  latencies -= from.latencies;
  arrivals += to.arrivals;
  arrivals -= from.arrivals;
  process_cpu_ns += to.process_cpu_ns - from.process_cpu_ns;
  if (!host_from) host_from = host_to = from.host;
  measure::advance(host_to, from.host, to.host);
  add_counters(below, measure::read_between(from.below, to.below));
}

void RankCounters::read_host() { host_ = measure::read_host_counters(); }

// A thread of its own does: what takes milliseconds, on a large machine tens of them, would let a
// queue fill.
void RankCounters::look_at_kernel_threads() {
  try {
    kernel_threads_ = std::async(std::launch::async, [] { return measure::read_kernel_threads(); });
  } catch (const std::system_error&) {  // no thread can be made: it stays unknown
  }
}

// What they took since the part began, in all and on the CPUs that this process may use.
void RankCounters::count_kernel_threads(measure::HostCounters& from, measure::HostCounters& to) {
  if (!kernel_threads_.valid()) return;
  const measure::KernelThreads before = kernel_threads_.get(),
                               after = measure::read_kernel_threads();
  to.kernel_threads_ns = measure::cpu_ns_between(before, after);
  to.usable_kernel_threads_ns = measure::cpu_ns_between(before, after, measure::usable_cpus());
  from.kernel_threads_ns = from.usable_kernel_threads_ns = to.kernel_threads_ns < 0 ? -1 : 0;
}

// What the process reads is held against what its workers read.
void RankCounters::begin(bool counts) {
  measure::HostCounters host =
      host_ ? *std::exchange(host_, std::nullopt) : measure::read_host_counters();
  host.process_read_bytes = measure::process_read_bytes();
  began_ = read_run();
  began_.host = std::move(host);
  if (counts && is_first_of_machine_) look_at_kernel_threads();
}

void RankCounters::end(bool counts) {
  Reading now = read_run();
  now.host = measure::read_host_counters();
  if (!counts) return;
  count_kernel_threads(began_.host, now.host);
  so_far_.add(began_, now);
}

void RankCounters::keep() { kept_ = so_far_; }

void RankCounters::drop() { kept_ = so_far_ = {}; }

void RankCounters::write_to(RankResult& result) const {
  result.stages = kept_.stages;
  result.latencies = kept_.latencies;
  result.arrivals = kept_.arrivals;
  if (kept_.host_from) {
    result.host = measure::host_use(*kept_.host_from, kept_.host_to);
    result.host.process_cpu_s = 1e-9 * static_cast<double>(kept_.process_cpu_ns);
  }
  result.storage_counters = kept_.below;
}

}  // namespace feedrate::run
