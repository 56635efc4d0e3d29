#include "run/process_work.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "measure/trace_file.h"
#include "ranks/thread_groups.h"

namespace feedrate::run {
namespace {

// Says after each trial that the work goes on.
class LivelyTrials : public device::StepTrials {
 public:
  LivelyTrials(device::StepTrials& trials, const std::function<void()>& alive)
      : trials_(trials), alive_(alive) {}

  device::StepError error_of(const device::StepOptions& options) override {
    const device::StepError error = trials_.error_of(options);
    if (alive_) alive_();
    return error;
  }
  double seconds(const device::StepOptions& options, int batch, int steps) override {
    const double taken = trials_.seconds(options, batch, steps);
    if (alive_) alive_();
    return taken;
  }

 private:
  device::StepTrials& trials_;
  const std::function<void()>& alive_;
};

}  // namespace

RankAnswer run_process(const ProcessWork& work,
                       const std::function<std::vector<RankResult>(const RankTask&)>& run,
                       std::stop_token stop) {
  storage::OutstandingReads::Slot* slot = work.reads ? &work.reads->add() : nullptr;
  RankAnswer answer;
  if (work.prepares_files) {
    answer.page_cache =
        prepare_page_cache(work.settings, work.dataset, work.ranks_here, slot, stop);
  }
  const RankTask task = make_rank_task(work.settings, work.options, work.registry, work.dataset,
                                       work.reads, work.progress, stop);
  if (stop.stop_requested()) return {.interrupted = true};  // while the caches were filled
  answer.ranks = run(task);
  answer.interrupted = std::ranges::any_of(answer.ranks, &RankResult::interrupted);
  if (answer.interrupted) {
    std::erase_if(answer.ranks, [](const RankResult& rank) { return rank.steps.empty(); });
    return answer;
  }
  if (task.recipe && task.recipe->bad) {
    answer.bad = task.recipe->bad->totals();
    answer.bad.of = static_cast<std::int64_t>(task.recipe->dataset->samples.size());
  }
  if (task.recipe && task.recipe->stray_bytes)
    answer.stray_bytes = task.recipe->stray_bytes->totals();
  if (work.prepares_files) look_after_window(answer.page_cache, work.dataset, slot, stop);
  return answer;
}

void qualify_here(const plan::CellSettings& settings, const RunOptions& options,
                  device::AcceleratorRegistry& registry, const QualifyOrder& order,
                  const QualifySink& sink, const std::function<void()>& alive) {
  device::StepSpec spec = settings.step_spec(options.seed);
  spec.classes = options.outputs;
  spec.feed = device::Feed::synthetic;
  spec.batch.size = settings.input_size;  // not that of pictures which the device augments
  spec.augmentation.reset();
  const auto trials = registry.find(settings.device).trials(settings.device_argument, spec);
  LivelyTrials lively(*trials, alive);
  run_trials(order, lively,
             {.typed = settings.step,
              .open = settings.open_step,
              .precision = settings.precision,
              .on_gpu = settings.device_kind == "cuda",
              .batch = settings.batch_size},
             sink);
}

TraceOutcome write_traces(const std::filesystem::path& file, std::vector<RankResult>& ranks,
                          std::int64_t from_ns) {
  std::vector<std::shared_ptr<const measure::Trace>> traces;
  for (RankResult& rank : ranks) {
    if (rank.trace) traces.push_back(std::exchange(rank.trace, nullptr));
  }
  try {
    return {.left_out = measure::write_trace_file(file, traces, from_ns), .problem = ""};
  } catch (const std::exception& error) {
    return {.problem = error.what()};
  }
}

std::vector<RankResult> run_rank_threads(const RankTask& task, std::stop_token stop) {
  const auto groups = ranks::make_thread_groups(task.settings.gpus);
  std::vector<RankResult> results(groups.size());
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto fail = [&](device::Group& group) {
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
            KeptDevice kept;  // not: the thread ends with the run
            results[r] = run_rank(task, *groups[r], stop, kept);
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

}  // namespace feedrate::run
