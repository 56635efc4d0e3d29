#include "run/cell_ranks.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"
#include "ranks/hello.h"
#include "run/probe_cell_data.h"
#include "run/process_work.h"
#include "run/wire.h"

namespace feedrate::run {
namespace {

std::string asked_for(const plan::CellSettings& settings) {
  return "--gpus " + std::to_string(settings.gpus);
}

void check_there_are_enough(const plan::CellSettings& settings,
                            const device::AcceleratorKind& kind) {
  if (const int there = kind.count(); settings.gpus > there) {
    throw UsageError(asked_for(settings),
                     "is more than `" + kind.name + "` has here (" + std::to_string(there) + ")",
                     "use fewer, or --device emulated:NAME");
  }
}

RankOrder rank_order_of(const plan::Cell& cell, const plan::CellSettings& settings,
                        const RunOptions& options) {
  return {.cell = cell,
          .options = options,
          .precision = settings.precision,
          .step = settings.step,
          .open_step = settings.open_step};
}

// A rank's place, as an answer of its process gives it.
std::string rank_name(std::size_t process, const RankAnswer& answer) {
  const RankPlace place = answer.ranks.empty() ? RankPlace{} : answer.ranks.front().place;
  return ranks::rank_name(static_cast<int>(process), place.host, place.pid);
}

// All ranks end with the same window, see run_rank(). Takes out the first whose differs from most
// (of two halves: from rank 0's), and throws an Error naming it.
void check_windows(std::map<std::size_t, RankAnswer>& answers) {
  using Window = std::pair<std::size_t, std::size_t>;
  const auto window = [](const RankResult& rank) { return Window{rank.first, rank.last}; };
  std::map<Window, int> count;
  for (const auto& [process, answer] : answers) {
    for (const RankResult& rank : answer.ranks) ++count[window(rank)];
  }
  Window usual = window(answers.begin()->second.ranks.front());
  for (const auto& [other, ranks] : count) {
    if (ranks > count[usual]) usual = other;
  }
  for (const auto& [process, answer] : answers) {
    for (const RankResult& rank : answer.ranks) {
      if (window(rank) == usual) continue;
      const Error error(rank_name(process, answer),
                        format("measured steps %zu to %zu, most ranks %zu to %zu", rank.first,
                               rank.last, usual.first, usual.second));
      const std::size_t odd = process;
      answers.erase(odd);
      throw error;
    }
  }
}

// Of a run in pairs, the figures of all ranks are of rank 0's blocks: its window holds them.
bool lacks_pairs(const RankResult& rank) {
  return rank.in_pairs && (rank.blocks.empty() ||
                           rank.blocks.front().first < static_cast<std::int64_t>(rank.first) ||
                           rank.blocks.back().last > static_cast<std::int64_t>(rank.last));
}

// Only what another rank's fault has ended may be incomplete.
void check_all_have_ended(const std::map<std::size_t, RankAnswer>& answers) {
  for (const auto& [process, answer] : answers) {
    if (answer.interrupted) throw Error(rank_name(process, answer), "ended before the others");
  }
}

RankAnswer joined(std::map<std::size_t, RankAnswer> answers) {
  RankAnswer all;
  for (auto& [rank, answer] : answers) {
    all.page_cache = merge_page_caches(all.page_cache, answer.page_cache);
    all.bad += answer.bad;
    all.stray_bytes += answer.stray_bytes;
    all.trace.left_out += answer.trace.left_out;
    if (all.trace.problem.empty()) all.trace.problem = answer.trace.problem;
    std::ranges::move(answer.ranks, std::back_inserter(all.ranks));
  }
  // A second of one process does not tell the other ranks from other processes.
  if (answers.size() > 1) {
    for (measure::HostSample& sample : all.ranks.front().host_series)
      sample.use.cpu_other_processes = -1;
  }
  return all;
}

// Ranks that meet at every step stand still with the process that carries their numbers.
void add_standstills(RankAnswer& answer, measure::StandstillMonitor& coordinator) {
  RankResult& first = answer.ranks.front();
  const measure::Standstills seen =
      coordinator.between(first.steps[first.first - 1].end_ns, first.steps[first.last - 1].end_ns);
  if (seen.all_s() > first.standstills.all_s()) first.standstills = seen;
}

class ThreadRanks : public CellRanks {
 public:
  explicit ThreadRanks(device::AcceleratorRegistry& registry) : registry_(registry) {}

  void check(const plan::CellSettings& settings,
             const device::AcceleratorKind& kind) const override {
    check_there_are_enough(settings, kind);
    if (settings.gpus > 1 && kind.ranks_are_processes)
      throw UsageError(asked_for(settings), "needs processes, which cannot be started from here");
  }
  void probe_cell_data(const plan::Cell&, const plan::CellSettings&, const RunOptions&,
                       Datasets&) override {}
  bool qualify(const plan::Cell&, const plan::CellSettings& settings, const RunOptions& options,
               const QualifyOrder& order, const QualifySink& sink, std::stop_token) override {
    qualify_here(settings, options, registry_, order, sink);
    return true;
  }
  bool apart(const plan::CellSettings&) const override { return false; }
  int here(const plan::CellSettings& settings) const override { return settings.gpus; }

  std::optional<RankAnswer> run(const plan::Cell&, const plan::CellSettings& settings,
                                const RunOptions& options,
                                std::shared_ptr<const storage::DatasetVariant> dataset,
                                const ProgressSink& progress, std::stop_token stop,
                                RankResults&) override {
    try {
      const ProcessWork work{.settings = settings,
                             .options = options,
                             .registry = registry_,
                             .dataset = dataset.get(),
                             .progress = progress,
                             .ranks_here = settings.gpus};
      std::int64_t began_ns = 0;
      const auto run_all = [&](const RankTask& task) {
        began_ns = measure::now_ns();
        return run_rank_threads(task, stop);
      };
      RankAnswer answer = run_process(work, run_all, stop);
      if (!options.trace.empty() && !answer.interrupted)
        answer.trace = write_traces(options.trace, answer.ranks, began_ns);
      return answer.interrupted ? std::nullopt : std::optional(std::move(answer));
    } catch (...) {
      if (stop.stop_requested()) return std::nullopt;  // threads that are told to stop may fail
      throw;
    }
  }

 private:
  device::AcceleratorRegistry& registry_;
};

class ProcessRanks : public CellRanks {
 public:
  ProcessRanks(device::AcceleratorRegistry& registry, ranks::RankProcesses& processes)
      : registry_(registry), processes_(processes) {}

  void check(const plan::CellSettings& settings,
             const device::AcceleratorKind& kind) const override {
    const int started = processes_.size();
    if (started == 0) return check_there_are_enough(settings, kind);
    if (settings.gpus != started) {
      throw UsageError(asked_for(settings),
                       "but " + std::to_string(started) + " ranks were started",
                       "leave --gpus out, or start as many");
    }
  }
  void probe_cell_data(const plan::Cell& cell, const plan::CellSettings& settings,
                       const RunOptions& options, Datasets& datasets) override {
    run::probe_cell_data(cell, settings, options, processes_, datasets);
  }
  bool qualify(const plan::Cell& cell, const plan::CellSettings& settings,
               const RunOptions& options, const QualifyOrder& order, const QualifySink& sink,
               std::stop_token stop) override {
    RankOrder whole = rank_order_of(cell, settings, options);
    whole.work = Work::qualify;
    whole.qualify = order;
    const ranks::TaskHooks hooks{
        .progress = [&](const std::string& text) { sink(qualify_event_from(text)); }};
    return processes_.run_aside(to_text(whole), hooks, std::move(stop));
  }
  bool apart(const plan::CellSettings& settings) const override {
    return processes_.size() != 0 || registry_.find(settings.device).ranks_are_processes;
  }
  int here(const plan::CellSettings& settings) const override {
    return apart(settings) ? processes_.here(settings.gpus) : settings.gpus;
  }

  std::optional<RankAnswer> run(const plan::Cell& cell, const plan::CellSettings& settings,
                                const RunOptions& options,
                                std::shared_ptr<const storage::DatasetVariant> dataset,
                                const ProgressSink& progress, std::stop_token stop,
                                RankResults& kept) override {
    RankOrder order = rank_order_of(cell, settings, options);
    if (dataset) order.manifest = dataset->manifest_xxh3;
    // Launched ranks stay while the next cell's step is tried out beside them: trials need the
    // memory.
    order.keeps_device = processes_.size() == 0;
    const bool are_processes = apart(settings);
    measure::StandstillMonitor standstills;
    std::map<std::size_t, RankAnswer> answers;
    ranks::TaskHooks hooks;
    if (progress) hooks.progress = [&](const std::string& text) { progress(progress_from(text)); };
    hooks.result = [&](int rank, const std::string& text) {
      RankAnswer answer = answer_from(text);
      const std::size_t all = are_processes ? 1 : static_cast<std::size_t>(settings.gpus);
      if (answer.interrupted ? answer.ranks.size() > all : answer.ranks.size() != all)
        throw std::invalid_argument("it is of another number of ranks");
      if (rank == 0 && !answer.interrupted && lacks_pairs(answer.ranks.front()))
        throw std::invalid_argument("it lacks its pairs");
      answers.emplace(rank, std::move(answer));
    };
    try {
      if (!processes_.run(are_processes ? settings.gpus : 1, to_text(order), hooks, std::move(stop),
                          options.team))
        return std::nullopt;
      check_all_have_ended(answers);
      check_windows(answers);
      RankAnswer answer = joined(std::move(answers));
      if (are_processes && settings.gpus > 1) add_standstills(answer, standstills);
      return answer;
    } catch (...) {
      for (auto& [rank, answer] : answers) {
        if (are_processes && !answer.ranks.empty()) kept.emplace(rank, answer.ranks.front());
      }
      throw;
    }
  }

 private:
  device::AcceleratorRegistry& registry_;
  ranks::RankProcesses& processes_;
};

}  // namespace

std::unique_ptr<CellRanks> make_thread_ranks(device::AcceleratorRegistry& registry) {
  return std::make_unique<ThreadRanks>(registry);
}

std::unique_ptr<CellRanks> make_process_ranks(device::AcceleratorRegistry& registry,
                                              ranks::RankProcesses& processes) {
  return std::make_unique<ProcessRanks>(registry, processes);
}

}  // namespace feedrate::run
