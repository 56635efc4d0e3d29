#include "run/rank.h"

#include <utility>

#include "measure/clock.h"
#include "measure/ranges.h"
#include "run/rank_setup.h"
#include "run/rank_window.h"

namespace feedrate::run {
namespace {

// One rank's steps, from the first one of the warm-up to the last one of the window.
class TrainingLoop {
 public:
  TrainingLoop(const RankTask& task, device::Group& group, KeptDevice& kept)
      : task_(task),
        group_(group),
        setup_(task, group, kept),
        window_(task, group, setup_, result_) {}

  RankResult run(const std::stop_token& stop);
  std::unique_ptr<device::Accelerator> take_device() { return std::move(setup_.device); }

 private:
  RankResult train(const std::stop_token& stop);
  bool submit_next();
  void submit(pipeline::BatchLease batch, std::int64_t step, std::int64_t asked,
              std::int64_t taken);
  bool keep_one_batch();
  bool watch_operators(const std::stop_token& stop);
  RankResult finish();
  RankResult interrupted();
  void end_trace();

  const RankTask& task_;
  device::Group& group_;
  RankSetup setup_;
  RankResult result_;
  RankWindow window_;
  std::int64_t taken_ = 0;  // samples, by the cell's own steps
};

}  // namespace

RankResult run_rank(const RankTask& task, device::Group& group, std::stop_token stop,
                    KeptDevice& kept) {
  TrainingLoop loop(task, group, kept);
  RankResult result = loop.run(stop);
  // Even one that was told to stop after its last step has left its device.
  const bool has_left = result.interrupted || stop.stop_requested();
  if (!has_left && KeptDevice::keeps(task)) kept.put(task, loop.take_device());
  return result;
}

RankResult TrainingLoop::run(const std::stop_token& stop) {
  const std::stop_callback interrupt(stop, [this] {
    if (setup_.loader) setup_.loader->stop();
    group_.abort();
    setup_.device->leave();
  });
  result_.device = setup_.device->describe();
  try {
    return train(stop);
  } catch (...) {
    if (stop.stop_requested()) return interrupted();  // what it failed in has been ended, too
    if (task_.failing) task_.failing();
    throw;
  }
}

RankResult TrainingLoop::train(const std::stop_token& stop) {
  if (task_.settings.feed == device::Feed::resident && !keep_one_batch()) return interrupted();
  while (!window_.is_done()) {
    if (stop.stop_requested() || !submit_next()) return interrupted();
    setup_.device->collect(result_.steps);
    if (!window_.update(taken_)) return interrupted();
  }
  if (!watch_operators(stop)) return interrupted();
  setup_.device->drain();
  setup_.device->collect(result_.steps);
  return finish();
}

// One batch to the device, or one step on what lies there. False: stopped.
bool TrainingLoop::submit_next() {
  if (window_.is_ceiling_step()) {
    result_.data_wait_ms.push_back(0);
    setup_.device->submit_synthetic();
    return true;
  }
  const auto step = static_cast<std::int64_t>(result_.data_wait_ms.size());
  pipeline::BatchLease batch;
  const std::int64_t asked = measure::now_ns();
  if (task_.settings.feed == device::Feed::streamed) {
    const measure::Range range(measure::TraceKind::wait, step);
    batch = setup_.loader->next();
    if (!batch) return false;
  }
  const std::int64_t taken = measure::now_ns();
  if (batch && result_.first_batch_ns == 0) result_.first_batch_ns = taken;
  result_.data_wait_ms.push_back(measure::ms(taken - asked));
  taken_ += task_.settings.batch_size;
  submit(std::move(batch), step, asked, taken);
  if (setup_.discarding) setup_.discarding->allow_one();
  return true;
}

void TrainingLoop::submit(pipeline::BatchLease batch, std::int64_t step, std::int64_t asked,
                          std::int64_t taken) {
  using measure::TraceKind;
  const measure::Range range(TraceKind::submit, step);
  if (!setup_.trace) return setup_.device->submit(std::move(batch));
  measure::Trace& trace = *setup_.trace;
  // Batches that come from no loader are numbered by their steps.
  const std::int64_t number = batch ? batch->sequence : step;
  trace.training().add(TraceKind::wait, asked, taken, number);
  if (batch && batch->ready_ns != 0) {
    trace.queue().add(TraceKind::queue, batch->ready_ns, taken, number);
    batch->ready_ns = 0;  // a cache hands it out again, and it was in no queue then
  }
  trace.submitted(number);
  setup_.device->submit(std::move(batch));
  trace.training().add(TraceKind::submit, taken, measure::now_ns(), number);
}

bool TrainingLoop::keep_one_batch() {
  const pipeline::BatchLease batch = setup_.loader->next();
  if (!batch) return false;
  result_.first_batch_ns = measure::now_ns();
  setup_.device->keep(*batch);
  setup_.loader->stop();
  return true;
}

// Some steps more, where they are asked for, behind the window, which they would slow. All ranks
// make as many. False: stopped.
bool TrainingLoop::watch_operators(const std::stop_token& stop) {
  if (!setup_.trace || !task_.options.trace_operators) return true;
  constexpr int kSteps = 5;
  bool goes_on = true;
  setup_.device->drain();
  group_.barrier();  // none steps on alone if that has thrown in another
  setup_.trace->mark("operators begin", measure::now_ns());
  setup_.trace->set_operators(setup_.device->operators_of([&] {
    for (int i = 0; i < kSteps && goes_on; ++i) {
      goes_on = !stop.stop_requested() && submit_next();
      setup_.device->collect(result_.steps);
    }
    setup_.device->drain();
  }));
  return goes_on;
}

RankResult TrainingLoop::finish() {
  window_.finish();
  result_.device = setup_.device->describe();  // with what only its steps have shown
  if (setup_.loader) {
    result_.samples_ahead_limit = setup_.loader->samples_ahead_limit();
    result_.loader_library = setup_.loader->library();
    result_.opencv_threads = pipeline::opencv_threads();
  }
  if (setup_.trace) end_trace();
  return std::move(result_);
}

// What was measured of the window remains, if another rank's fault has ended it.
RankResult TrainingLoop::interrupted() {
  setup_.device->leave();
  result_.interrupted = true;
  window_.cut_off();
  return std::move(result_);
}

// The loader's workers go on until it is gone; who reads the trace has this object behind him.
void TrainingLoop::end_trace() {
  std::vector<measure::TraceStep> steps;
  steps.reserve(result_.steps.size());
  for (const device::StepRecord& step : result_.steps)
    steps.push_back({step.start_ns, step.end_ns});
  measure::Trace& trace = *setup_.trace;
  trace.set_steps(steps);
  trace.set_device(result_.device.name + (result_.device.kind == "cpu" ? " (CPU)" : ""));
  trace.mark("window begins", steps[result_.first - 1].end_ns);
  trace.mark("window ends", steps[result_.last - 1].end_ns);
  result_.trace = setup_.trace;
}

}  // namespace feedrate::run
