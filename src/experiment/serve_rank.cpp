#include "experiment/serve_rank.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "experiment/failure.h"
#include "experiment/rank_texts.h"
#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/periodic.h"
#include "ranks/hello.h"

namespace feedrate {
namespace {

constexpr std::int64_t kLookNs = 250'000'000;

RankPlace this_place() {
  return {.host = host_name(), .pid = getpid(), .cpus = usable_cpus()};
}

// A thread that waits for storage cannot be called back: what it waits for is told, and this process is given up.
std::jthread watch_reads(std::shared_ptr<const OutstandingReads> reads, double most_seconds, SocketGroup& group) {
  return every(kLookNs, [=, &group] {
    const auto read = reads->oldest();
    if (!read || read->seconds <= most_seconds) return;
    char text[160];
    std::snprintf(text, sizeof text, "stalled: a read at byte %llu has not returned for %.1f s; look at the storage, or raise --stall-seconds",
                  static_cast<unsigned long long>(read->offset), read->seconds);
    group.give_up(read->path + ": " + text);
  });
}

void to_common_clock(RankResult& result, const SocketGroup& group) {
  for (StepRecord& step : result.steps) {
    step.start_ns = group.on_common_clock(step.start_ns);
    step.end_ns = group.on_common_clock(step.end_ns);
  }
  for (HostSample& sample : result.host_series) sample.at_ns = group.on_common_clock(sample.at_ns);
  for (GpuSample& sample : result.gpu) sample.at_ns = group.on_common_clock(sample.at_ns);
}

// Reads the dataset's lists. Whether that comes to an end is watched from beside.
std::shared_ptr<const DatasetVariant> opened_for(const RankOrder& order, CellRunner& runner, SocketGroup& group) {
  const auto watch = every(kLookNs, [&, since = now_ns()] {
    const double taken = seconds(now_ns() - since);
    if (taken <= order.options.limits.stall_seconds) return;
    char text[128];
    std::snprintf(text, sizeof text, "stalled: opening it has not come to an end for %.1f s; look at the storage, or raise --stall-seconds", taken);
    group.give_up(order.options.data.string() + ": " + text);
  });
  return runner.dataset_for(order.cell);
}

RankAnswer carry_out(const RankOrder& order, CellRunner& runner, SocketGroup& group, bool first_here) {
  ProgressSink progress;
  if (group.rank() == 0) progress = [&](const RunProgress& p) { group.report(to_text(p)); };
  std::shared_ptr<OutstandingReads> reads;
  std::jthread watch;
  if (const auto dataset = opened_for(order, runner, group)) {
    reads = std::make_shared<OutstandingReads>(*dataset);
    watch = watch_reads(reads, order.options.limits.stall_seconds, group);
  }
  RankAnswer answer = runner.run_as_rank(order.cell, group, first_here, order.manifest, reads, progress, group.stop_token());
  for (RankResult& rank : answer.ranks) {
    rank.place = this_place();
    to_common_clock(rank, group);
  }
  return answer;
}

}  // namespace

void serve_rank(SocketGroup& group, AcceleratorRegistry& registry, bool first_here) {
  std::optional<CellRunner> runner;  // keeps the datasets: all orders are of one run
  while (const auto task = group.next_task()) {
    try {
      const RankOrder order = order_from(*task);
      if (!runner) runner.emplace(order.options, registry);
      const RankAnswer answer = carry_out(order, *runner, group, first_here);
      if (answer.ranks.front().interrupted) {
        group.fail("interrupted");
      } else {
        group.finish(to_text(answer));
      }
    } catch (...) {
      group.fail(failure_text());
    }
  }
}

}  // namespace feedrate
