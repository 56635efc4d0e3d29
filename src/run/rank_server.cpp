#include "run/rank_server.h"

#include <unistd.h>

#include <atomic>
#include <exception>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "measure/affinity.h"
#include "measure/clock.h"
#include "ranks/hello.h"
#include "run/cell_checks.h"
#include "run/datasets.h"
#include "run/failure.h"
#include "run/process_work.h"
#include "run/wire.h"
#include "storage/memory_copy.h"

namespace feedrate::run {
namespace {

constexpr std::int64_t kTellNs = 100'000'000;

RankPlace this_place() {
  return {.host = ranks::host_name(),
          .pid = getpid(),
          .cpus = measure::usable_cpus(),
          .quota = measure::cpu_quota()};
}

// A thread that waits for storage cannot be interrupted: the process is given up.
std::jthread watch_reads(std::shared_ptr<const storage::OutstandingReads> reads,
                         double most_seconds, ranks::SocketGroup& group) {
  return group.give_up_when([=] {
    const auto read = reads->oldest();
    if (!read) return std::string();
    const std::string what = "a read at byte " + std::to_string(read->offset) + " has not returned";
    return stall_text(read->path, what, read->seconds, most_seconds);
  });
}

// The same for a dataset that is being opened. `alive_ns`: when something of it was last seen.
std::jthread watch_opening(const RunOptions& options, const std::atomic<std::int64_t>& alive_ns,
                           ranks::SocketGroup& group) {
  return group.give_up_when([&] {
    return stall_text(options.data.string(), "opening it has not come to an end",
                      measure::seconds(measure::now_ns() - alive_ns), options.limits.stall_seconds);
  });
}

void to_common_clock(RankResult& result, const ranks::SocketGroup& group) {
  for (device::StepRecord& step : result.steps) {
    step.start_ns = group.on_common_clock(step.start_ns);
    step.end_ns = group.on_common_clock(step.end_ns);
  }
  for (measure::HostSample& sample : result.host_series)
    sample.at_ns = group.on_common_clock(sample.at_ns);
  if (result.first_batch_ns != 0)
    result.first_batch_ns = group.on_common_clock(result.first_batch_ns);
  for (measure::GpuSample& sample : result.gpu) sample.at_ns = group.on_common_clock(sample.at_ns);
}

// One rank of a run, or all of them as threads where the group has but one.
class RankServer {
 public:
  RankServer(ranks::SocketGroup& group, device::AcceleratorRegistry& registry, int ranks_here)
      : group_(group), registry_(registry), ranks_here_(ranks_here) {}

  RankAnswer run_order(const RankOrder& order) {
    if (order.work == Work::qualify) {
      kept_.drop();  // the trials need its memory
      qualify(order);
      return {};
    }
    if (order.work != Work::measure) return work_aside(order);
    const plan::CellSettings settings = order.settings();
    const auto dataset = open(order, settings);
    std::shared_ptr<storage::OutstandingReads> reads;
    std::jthread watch;
    if (dataset) {
      reads = std::make_shared<storage::OutstandingReads>(*dataset);
      watch = watch_reads(reads, order.options.limits.stall_seconds, group_);
    }
    const std::stop_token stop = group_.stop_token();
    const bool are_threads = group_.size() != settings.gpus;
    const ProcessWork work{.settings = settings,
                           .options = order.options,
                           .registry = registry_,
                           .dataset = dataset.get(),
                           .reads = reads,
                           .progress = progress(),
                           .prepares_files = group_.local_rank() == 0,
                           .ranks_here = are_threads ? settings.gpus : ranks_here_};
    auto answer =
        run_process(work, [&](const RankTask& task) { return results_of(task, stop); }, stop);
    if (!order.keeps_device) kept_.drop();
    if (!order.options.trace.empty() && !answer.interrupted)
      answer.trace = write_traces(trace_file(order.options, are_threads || settings.gpus == 1),
                                  answer.ranks, trace_from_ns_);
    for (RankResult& rank : answer.ranks) {
      rank.place = this_place();
      to_common_clock(rank, group_);
    }
    return answer;
  }

 private:
  // A trial that hangs is given up with the process.
  void qualify(const RankOrder& order) {
    constexpr std::int64_t kLongestNs = 180'000'000'000;
    std::atomic<std::int64_t> told_ns = measure::now_ns();
    const auto watch = group_.give_up_when([&] {
      return measure::now_ns() - told_ns > kLongestNs ? "has not come to an end for 3 minutes" : "";
    });
    qualify_here(
        order.settings(), order.options, registry_, order.qualify,
        [&](const QualifyEvent& event) { group_.report(to_text(event)); },
        [&] { told_ns = measure::now_ns(); });
  }

  // What run/probe_cell_data.h has done.
  RankAnswer work_aside(const RankOrder& order) {
    try {
      order.work == Work::probe_dataset ? probe_dataset(order) : read_ahead(order);
    } catch (const std::exception&) {
      if (order.work == Work::copy) throw;
      // The storage answers. Who has given the order finds the same, and reports it.
    }
    return {};
  }

  void probe_dataset(const RankOrder& order) {
    opening_ns_ = measure::now_ns();
    const auto watch = watch_opening(order.options, opening_ns_, group_);
    for (const std::string& name : storage::dataset_variants(order.options.data)) {
      storage::open_dataset(order.options.data, name);
      opening_ns_ = measure::now_ns();
    }
  }

  // Work::probe_cell_data and Work::copy.
  void read_ahead(const RankOrder& order) {
    const plan::CellSettings settings = plan::settings_of(order.cell);
    const auto dataset = open_ahead(order, settings);
    const auto reads = std::make_shared<storage::OutstandingReads>(*dataset);
    const auto watch = watch_reads(reads, order.options.limits.stall_seconds, group_);
    storage::OutstandingReads::Slot& slot = reads->add();
    check_reading(settings, *dataset, &slot);
    if (order.work != Work::copy) return;
    storage::copy_part(*dataset, settings.variant(), order.most_bytes, order.copy_to,
                       group_.stop_token(), &slot);
  }

  std::shared_ptr<const storage::DatasetVariant> open_ahead(const RankOrder& order,
                                                            const plan::CellSettings& settings) {
    opening_ns_ = measure::now_ns();
    const auto watch = watch_opening(order.options, opening_ns_, group_);
    std::int64_t told_ns = 0;
    const auto listing = [&](std::uint64_t files) {
      opening_ns_ = measure::now_ns();
      if (opening_ns_ - told_ns < kTellNs) return;
      told_ns = opening_ns_;
      group_.report(to_text(ListingNews{.files = files}));
    };
    const auto note = [&](const std::string& text) {
      group_.report(to_text(ListingNews{.note = text}));
    };
    Datasets datasets(order.options.data, order.options.samples, listing, note,
                      order.options.listing_run);
    if (order.options.relist && order.work == Work::probe_cell_data) datasets.relist();
    auto dataset = datasets.of(settings);
    if (const storage::HowListed& listed = dataset->listed; listed.seconds > 0)
      group_.report(to_text(ListingNews{.listed_s = listed.seconds, .how = listed.text}));
    return dataset;
  }

  std::vector<RankResult> results_of(const RankTask& task, std::stop_token stop) {
    group_.barrier();  // no rank measures while another one still fills its cache
    if (!task.options.trace.empty()) agree_on_trace_start();
    if (group_.size() != task.settings.gpus) return run_rank_threads(task, std::move(stop));
    // A device may not end after an error, as its work may wait for other ranks.
    constexpr std::int64_t kLongestNs = 10'000'000'000;
    std::string reason;  // once there is a time
    std::atomic<std::int64_t> failed_ns{0};
    const auto watch = group_.give_up_when([&]() -> std::string {
      const std::int64_t since_ns = failed_ns;
      return since_ns != 0 && measure::now_ns() - since_ns > kLongestNs ? reason : "";
    });
    RankTask watched = task;
    watched.failing = [&] {
      reason = failure_text();
      failed_ns = measure::now_ns();
    };
    return {run_rank(watched, group_, std::move(stop), kept_)};
  }

  // Rank 0's moment, so that the files of several processes can be laid beside each other.
  void agree_on_trace_start() {
    const std::int64_t ahead_ns = group_.on_common_clock(0);
    trace_from_ns_ = group_.broadcast_number(measure::now_ns() + ahead_ns) - ahead_ns;
  }

  // A trace is too large for the coordinator: each process writes its own, on its own machine.
  std::filesystem::path trace_file(const RunOptions& options, bool is_only_process) const {
    return is_only_process ? options.trace : trace_file_of(options.trace, group_.rank());
  }

  ProgressSink progress() {
    if (group_.rank() != 0) return {};
    return [this](const RunProgress& p) { group_.report(to_text(p)); };
  }

  // Reads the dataset's manifest, which must be the same as rank 0's. All orders are of one run.
  std::shared_ptr<const storage::DatasetVariant> open(const RankOrder& order,
                                                      const plan::CellSettings& settings) {
    opening_ns_ = measure::now_ns();
    const auto watch = watch_opening(order.options, opening_ns_, group_);
    if (!datasets_) {
      datasets_.emplace(
          order.options.data, order.options.samples,
          [this](std::uint64_t) { opening_ns_ = measure::now_ns(); }, storage::ListNote(),
          order.options.listing_run);
    }
    auto dataset = datasets_->of(settings);
    if (dataset && dataset->manifest_xxh3 != order.manifest) {
      datasets_->relist();  // what is kept of it on this machine may be older than on rank 0's
      dataset = datasets_->of(settings);
    }
    if (dataset && dataset->manifest_xxh3 != order.manifest) {
      throw Error(dataset->folder.string(),
                  "is another dataset here than rank 0's, or has changed since it was listed",
                  "give all machines the same one, leave it alone while it is measured, and list a "
                  "folder of your own anew with --relist");
    }
    return dataset;
  }

  ranks::SocketGroup& group_;
  device::AcceleratorRegistry& registry_;
  const int ranks_here_;
  std::atomic<std::int64_t> opening_ns_{0};
  std::int64_t trace_from_ns_ = 0;  // on this machine's clock
  std::optional<Datasets> datasets_;
  KeptDevice kept_;
};

}  // namespace

void serve_rank(ranks::SocketGroup& group, device::AcceleratorRegistry& registry, int ranks_here) {
  RankServer server(group, registry, ranks_here);
  while (const auto task = group.next_task()) {
    try {
      const RankAnswer answer = server.run_order(order_from(*task));
      if (answer.interrupted && answer.ranks.empty()) {
        group.fail("interrupted");
      } else {
        group.finish(to_text(answer));
      }
    } catch (...) {
      group.fail(failure_text());
    }
  }
}

}  // namespace feedrate::run
