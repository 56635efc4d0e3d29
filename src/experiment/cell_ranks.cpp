// A cell's ranks: threads of this process, processes, or one of these itself.
#include <algorithm>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "experiment/cell_memory.h"
#include "experiment/rank_texts.h"
#include "experiment/run_cell.h"
#include "measure/error.h"
#include "ranks/rank_processes.h"
#include "storage/page_cache.h"

namespace feedrate {
namespace {

// Ranks as threads of this process.
std::vector<RankResult> run_ranks(const RankTask& task, std::stop_token stop) {
  const auto groups = make_thread_groups(task.settings.gpus);
  std::vector<RankResult> results(groups.size());
  std::mutex mutex;
  std::exception_ptr first_error;  // the others fail only because the first one did
  const auto fail = [&](Group& group) {
    {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
    group.abort();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t r = 0; r < groups.size(); ++r) {
        threads.emplace_back([&, r] {
          try {
            results[r] = run_rank(task, *groups[r], stop);
          } catch (...) {
            fail(*groups[r]);
          }
        });
      }
    } catch (...) {  // a thread could not be made: the others would wait for it for ever
      fail(*groups.front());
    }
  }
  if (first_error) std::rethrow_exception(first_error);
  return results;
}

// What the ranks of one machine took of its CPUs is not other processes' work.
double other_processes(const std::vector<RankResult>& ranks) {
  double others = ranks.front().host.cpu_busy;
  for (const RankResult& r : ranks) {
    if (r.place.host == ranks.front().place.host) others -= r.host.cpu_busy - r.host.cpu_other_processes;
  }
  return std::max(0.0, others);
}

bool may_share_cpus(const std::vector<RankResult>& ranks) {
  std::set<int> seen;
  for (const RankResult& r : ranks) {
    if (r.place.host != ranks.front().place.host) continue;
    for (const int cpu : r.place.cpus) {
      if (!seen.insert(cpu).second) return true;
    }
  }
  return false;
}

double page_cache_state(const CellSettings& settings, const DatasetVariant* dataset, OutstandingReads::Slot* slot) {
  return dataset && settings.cache == "none" ? page_cache_share(*dataset, slot) : -1;
}

// Brings it into the state asked for; returns page_cache_state().
double prepare_page_cache(const CellSettings& settings, const DatasetVariant* dataset, OutstandingReads::Slot* slot, std::stop_token stop) {
  if (!dataset || settings.cache != "none") return -1;
  if (settings.page_cache == "warm") warm_page_cache(*dataset, stop, slot);
  if (settings.page_cache == "cold") drop_from_page_cache(*dataset, stop, slot);
  if (stop.stop_requested()) return -1;
  const double share = page_cache_state(settings, dataset, slot);
  if (settings.page_cache == "cold" && share > 0.05) {
    throw Error(dataset->folder.string(), "stays in the page cache although it was asked to go",
                "put the dataset on a disk's file system (tmpfs cannot be dropped), or use --page-cache warm");
  }
  return share;
}

RankAnswer interrupted() {
  RankAnswer answer;
  answer.ranks.resize(1);
  answer.ranks.front().interrupted = true;
  return answer;
}

}  // namespace

RankTask CellRunner::task_of(const CellSettings& settings, std::shared_ptr<OutstandingReads> reads, const ProgressSink& progress, std::stop_token stop) {
  return {.settings = settings, .limits = options_.limits, .kind = &registry_.find(settings.device), .seed = options_.seed,
          .device_argument = std::string(split_device(settings.device).second), .recipe = recipe_of(settings, std::move(reads), stop), .progress = progress};
}

RankAnswer CellRunner::run_threads(const CellSettings& settings, const ProgressSink& progress, std::stop_token stop) {
  const auto dataset = dataset_of(settings);
  RankAnswer answer;
  answer.page_cache_before = prepare_page_cache(settings, dataset.get(), nullptr, stop);
  const RankTask task = task_of(settings, nullptr, progress, stop);
  if (stop.stop_requested()) return interrupted();  // while the caches were filled
  answer.ranks = run_ranks(task, stop);
  if (task.recipe && task.recipe->bad) answer.bad = task.recipe->bad->totals();
  answer.page_cache_after = page_cache_state(settings, dataset.get(), nullptr);
  return answer;
}

std::optional<RankAnswer> CellRunner::run_processes(const Cell& cell, const CellSettings& settings, const ProgressSink& progress, std::stop_token stop) {
  const auto dataset = dataset_of(settings);
  const RankOrder order{cell, options_, dataset ? dataset->manifest_xxh3 : ""};
  const auto on_progress = [&](const std::string& text) {
    if (progress) progress(progress_from(text));
  };
  const auto answers = processes_->run(ranks_are_apart(settings) ? settings.gpus : 1, to_text(order), on_progress, stop);
  if (!answers) return std::nullopt;
  RankAnswer all;
  for (const std::string& text : *answers) {
    RankAnswer answer = answer_from(text);
    if (all.ranks.empty()) all.page_cache_before = answer.page_cache_before, all.page_cache_after = answer.page_cache_after;
    if (all.bad.count == 0) all.bad.first = answer.bad.first;
    all.bad.count += answer.bad.count;
    std::ranges::move(answer.ranks, std::back_inserter(all.ranks));
  }
  if (answers->size() > 1) {
    all.ranks.front().host.cpu_other_processes = other_processes(all.ranks);
    // The other ranks may be on the same CPUs.
    if (may_share_cpus(all.ranks)) all.ranks.front().host.usable_cpus_other_processes = all.ranks.front().host.cpu_other_processes;
    for (HostSample& sample : all.ranks.front().host_series) sample.use.cpu_other_processes = -1;  // the other ranks are among them
  }
  return all;
}

RankAnswer CellRunner::run_as_rank(const Cell& cell, Group& group, bool first_here, const std::string& manifest, std::shared_ptr<OutstandingReads> reads,
                                   const ProgressSink& progress, std::stop_token stop) {
  CellSettings settings = settings_of(cell);
  const auto dataset = dataset_of(settings);
  if (dataset && dataset->manifest_xxh3 != manifest) {
    throw Error(dataset->folder.string(), "is another dataset here than rank 0's", "give all machines the same one");
  }
  make_room(settings, dataset.get());
  RankAnswer answer;
  OutstandingReads::Slot* slot = reads ? &reads->add() : nullptr;
  if (first_here) answer.page_cache_before = prepare_page_cache(settings, dataset.get(), slot, stop);
  const RankTask task = task_of(settings, std::move(reads), progress, stop);
  if (stop.stop_requested()) return interrupted();
  group.barrier();  // nobody measures while another one still reads its cache
  if (group.size() == settings.gpus) {
    answer.ranks.push_back(run_rank(task, group, stop));
  } else {
    answer.ranks = run_ranks(task, stop);
  }
  if (task.recipe && task.recipe->bad) answer.bad = task.recipe->bad->totals();
  if (first_here) answer.page_cache_after = page_cache_state(settings, dataset.get(), slot);
  return answer;
}

}  // namespace feedrate
