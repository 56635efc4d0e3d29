#include "run/rank_counters.h"

#include <algorithm>
#include <utility>

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

RankCounters::RankCounters(const RankTask& task, int rank, const RankSetup& setup)
    : loader_(setup.loader.get()),
      device_(*setup.device),
      below_(rank == 0 ? counters_below(task) : std::nullopt) {}

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

// What the process reads is held against what its workers read.
void RankCounters::begin() {
  measure::HostCounters host =
      host_ ? *std::exchange(host_, std::nullopt) : measure::read_host_counters();
  host.process_read_bytes = measure::process_read_bytes();
  began_ = read_run();
  began_.host = std::move(host);
}

void RankCounters::end(bool counts) {
  Reading now = read_run();
  now.host = measure::read_host_counters();
  if (counts) so_far_.add(began_, now);
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
