#include "run/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/random.h"
#include "measure/ranges.h"
#include "pipeline/extra_reads.h"
#include "run/discarding.h"
#include "run/pairs.h"
#include "run/rank_blocks.h"
#include "run/rank_counters.h"

namespace feedrate::run {
namespace {

pipeline::SampleOrder order_of(pipeline::Order order, const storage::DatasetVariant& dataset) {
  pipeline::SampleOrder all{.order = order};
  if (order != pipeline::Order::by_shard) return all;
  const auto& samples = dataset.samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || samples[i].shard != samples[i - 1].shard)
      all.first_of_shard.push_back(static_cast<std::int64_t>(i));
  }
  return all;
}

// Steps of one pass for a cold cell: a second pass would find the files in the cache. Else 0.
std::int64_t pass_steps(const RankTask& task, const device::Group& group) {
  if (!task.recipe || task.settings.page_cache != "cold") return 0;
  return static_cast<std::int64_t>(task.recipe->dataset->samples.size()) / group.size() /
         task.settings.batch_size;
}

// How many batches a loader makes; 0: endless. Workers must not read ahead into a second pass. A
// pass of fewer steps may be over before its window: a device is two steps behind.
std::int64_t batches_of(const RankTask& task, const device::Group& group) {
  constexpr std::int64_t kLeast = 8;
  const std::int64_t pass = pass_steps(task, group);
  return pass >= kLeast ? pass : 0;
}

// Batches for the training thread, whatever the feed.
std::unique_ptr<pipeline::Loader> open_loader(const RankTask& task, device::Accelerator& device,
                                              const device::Group& group, measure::Trace* trace,
                                              const measure::Delays* delays,
                                              pipeline::ExtraReads* extra_reads) {
  if (!task.recipe) return nullptr;
  const plan::CellSettings& s = task.settings;
  const storage::DatasetVariant& dataset = *task.recipe->dataset;
  const pipeline::Sampler sampler(static_cast<std::int64_t>(dataset.samples.size()),
                                  task.options.seed, group.rank(), group.size(),
                                  order_of(s.order, dataset));
  pipeline::LoaderOptions options{*task.recipe, sampler,        s.workers,
                                  s.prefetch,   device.slabs(), s.in_order};
  if (s.pin_workers) options.first_cpu = group.rank() * s.workers;
  options.batches = batches_of(task, group);
  options.trace = trace;
  options.recipe.delays = delays;
  options.recipe.extra_reads = extra_reads;
  if (task.options.planted_rank.value_or(group.rank()) != group.rank())
    options.recipe.planted = nullptr;
  auto loader = pipeline::make_loader(s.loader, std::move(options));
  if (s.cache != "host") return loader;
  const pipeline::BatchSpec& spec = task.recipe->spec;
  return pipeline::make_host_cache(std::move(loader), spec, device.slabs(),
                                   pipeline::host_cache_batches(spec));
}

// Null where no block asks for them, or they cannot be had: none are counted then.
std::unique_ptr<pipeline::ExtraReads> open_extra_reads(const RankTask& task,
                                                       const device::Group& group,
                                                       const measure::Delays* delays) {
  const auto is_storage = [](const Block& block) { return block.place == measure::Place::storage; };
  if (!task.recipe || !delays || std::ranges::none_of(task.options.blocks.blocks, is_storage))
    return nullptr;
  // Twice as many as a fifth of the workers' reads keeps busy.
  constexpr int kLeast = 2, kMost = 64;
  const int in_flight = std::max(task.settings.workers, 1) * task.settings.io_depth;
  try {
    return std::make_unique<pipeline::ExtraReads>(
        *task.recipe->dataset, *delays, std::clamp(2 * in_flight / 5, kLeast, kMost),
        mix64(task.options.seed, static_cast<std::uint64_t>(group.rank())),
        task.recipe->reads.get());
  } catch (const std::runtime_error&) {  // too few descriptors or threads, no O_DIRECT
    return nullptr;
  }
}

// Null where each step takes its batch, or there are none.
std::unique_ptr<Discarding> open_discarding(const RankTask& task, pipeline::Loader* loader) {
  if (!loader || !task.settings.discards()) return nullptr;
  return std::make_unique<Discarding>(*loader);
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

// Null where none was asked for.
std::shared_ptr<measure::Trace> open_trace(const RankTask& task, const device::Group& group) {
  if (task.options.trace.empty()) return nullptr;
  return std::make_shared<measure::Trace>(group.rank(), task.settings.batch_size);
}

std::unique_ptr<device::Accelerator> open_device(const RankTask& task, device::Group& group,
                                                 measure::Trace* trace,
                                                 const measure::Delays* delays, KeptDevice& kept) {
  if (auto device = kept.take(task, group)) return device;
  device::StepSpec step = task.step;
  step.delays = delays;
  step.synthetic_beside = task.options.blocks.in_pairs;
  if (trace) step.copies = &trace->copies();
  return task.kind->make(task.settings.device_argument, step, group);
}

class RankRun {
 public:
  RankRun(const RankTask& task, device::Group& group, KeptDevice& kept)
      : task_(task),
        group_(group),
        trace_(open_trace(task, group)),
        device_(open_device(task, group, trace_.get(), delays_of(task), kept)),
        extra_reads_(open_extra_reads(task, group, delays_of(task))),
        loader_(
            open_loader(task, *device_, group, trace_.get(), delays_of(task), extra_reads_.get())),
        discarding_(open_discarding(task, loader_.get())),
        gpu_(device_->describe().pci_address),
        host_(group.rank() == 0 ? std::make_unique<measure::HostMonitor>() : nullptr),
        counters_(loader_.get(), *device_, group.rank() == 0 ? counters_below(task) : std::nullopt),
        pass_steps_(pass_steps(task, group)),
        window_(task.options.limits, pass_steps_, task.options.appointment),
        schedule_(task.options.blocks),
        blocks_(task, group.rank(), loader_.get(), *device_, extra_reads_.get(), counters_,
                delays_) {}

  RankResult run(std::stop_token stop) {
    const std::stop_callback wake(stop, [this] { interrupt(); });
    result_.device = device_->describe();
    try {
      return measure(stop);
    } catch (...) {
      if (stop.stop_requested()) return interrupted();  // what it failed in has been ended, too
      if (task_.failing) task_.failing();
      throw;
    }
  }

  std::unique_ptr<device::Accelerator> take_device() { return std::move(device_); }

 private:
  RankResult measure(const std::stop_token& stop) {
    if (task_.settings.feed == device::Feed::resident && !keep_one_batch()) return interrupted();
    while (!done()) {
      if (stop.stop_requested() || !step() || !advance()) return interrupted();
    }
    if (trace_ && task_.options.trace_operators && !watch_operators(stop)) return interrupted();
    device_->drain();
    device_->collect(result_.steps);
    return finish();
  }

  // Null: nothing is ever delayed.
  const measure::Delays* delays_of(const RankTask& task) {
    bool any = in_blocks() && !in_pairs();
    for (std::size_t place = 0; place < measure::kPlaceCount; ++place) {
      const std::int64_t ns = task.options.planted_delays[place];
      delays_.plant(static_cast<measure::Place>(place), ns);
      any = any || ns > 0;
    }
    return any ? &delays_ : nullptr;
  }

  void interrupt() {
    if (loader_) loader_->stop();
    group_.abort();
    device_->leave();
  }

  bool keep_one_batch() {
    const pipeline::BatchLease batch = loader_->next();
    if (!batch) return false;
    device_->keep(*batch);
    loader_->stop();
    return true;
  }

  // Some steps more, behind the window, which they would slow. All ranks make as many. False:
  // stopped.
  bool watch_operators(const std::stop_token& stop) {
    constexpr int kSteps = 5;
    bool goes_on = true;
    device_->drain();
    group_.barrier();  // none steps on alone if that has thrown in another
    trace_->mark("operators begin", measure::now_ns());
    trace_->set_operators(device_->operators_of([&] {
      for (int i = 0; i < kSteps && goes_on; ++i) goes_on = !stop.stop_requested() && step();
      device_->drain();
    }));
    return goes_on;
  }

  // One batch to the device, or one step on what lies there. False: stopped.
  bool step() {
    if (is_ceiling_step()) return synthetic_step();
    pipeline::BatchLease batch;
    const std::int64_t asked = measure::now_ns();
    if (task_.settings.feed == device::Feed::streamed) {
      const measure::Range range(measure::TraceKind::wait,
                                 static_cast<std::int64_t>(result_.data_wait_ms.size()));
      batch = loader_->next();
      if (!batch) return false;
    }
    const std::int64_t taken = measure::now_ns();
    result_.data_wait_ms.push_back(measure::ms(taken - asked));
    ++taken_;
    hand_over(std::move(batch), asked, taken);
    if (discarding_) discarding_->allow_one();
    device_->collect(result_.steps);
    return true;
  }

  // At the ceiling of a run in pairs.
  bool synthetic_step() {
    result_.data_wait_ms.push_back(0);
    device_->submit_synthetic();
    device_->collect(result_.steps);
    return true;
  }
  // A run in pairs begins with steps of both kinds in turns, so that both have done what is done
  // once before the first block.
  bool is_ceiling_step() const {
    if (!in_pairs() || has_ended()) return false;
    if (mark_ == kBothKinds) return result_.data_wait_ms.size() % 2 == 1;
    return mark_ != kOwnKind && block_of_mark().is_ceiling;
  }

  void hand_over(pipeline::BatchLease batch, std::int64_t asked, std::int64_t taken) {
    const auto number = static_cast<std::int64_t>(result_.data_wait_ms.size()) - 1;
    const measure::Range range(measure::TraceKind::submit, number);
    if (trace_) {
      submit_traced(std::move(batch), asked, taken);
    } else {
      device_->submit(std::move(batch));
    }
  }

  // Batches that come from no loader are numbered by their steps.
  void submit_traced(pipeline::BatchLease batch, std::int64_t asked, std::int64_t taken) {
    using measure::TraceKind;
    const std::int64_t number =
        batch ? batch->sequence : static_cast<std::int64_t>(result_.data_wait_ms.size()) - 1;
    trace_->training().add(TraceKind::wait, asked, taken, number);
    if (batch && batch->ready_ns != 0) {
      trace_->queue().add(TraceKind::queue, batch->ready_ns, taken, number);
      batch->ready_ns = 0;  // a cache hands it out again, and it was in no queue then
    }
    trace_->submitted(number);
    device_->submit(std::move(batch));
    trace_->training().add(TraceKind::submit, taken, measure::now_ns(), number);
  }

  // All ranks enter and leave the window, and its blocks, at the same step: rank 0 decides. False:
  // another rank's device has failed.
  bool advance() {
    const double drawn = drawn_so_far();
    if (group_.rank() == 0) {
      if (device_->settled())
        decide(std::abs(drawn) > std::abs(others_drawn_) ? drawn : others_drawn_);
      report();
    }
    const std::optional<std::int64_t> mark = agreed_mark(drawn);
    if (!mark) {
      device_->drain();  // throws what has failed, if it was this rank's
      group_.barrier();  // which that rank never reaches: its error is the one that is told
      return false;
    }
    if (*mark != mark_) enter(*mark, drawn);
    return true;
  }

  void enter(std::int64_t mark, double drawn) {
    const bool stayed = has_ended(), is_anew = begins_anew(mark);
    if (in_blocks() && BlockSchedule::is_measured(mark_)) blocks_.end(now());
    mark_ = mark;
    if (stayed || mark_ == kOwnKind) return;  // for other jobs; its window is over
    if (is_anew) begin_pairs_anew();
    if (has_ended()) {
      end_window(drawn);
    } else if (!in_blocks() || opened_ == 0) {
      open_window();
    }
    if (in_blocks()) enter_block();
  }
  void enter_block() {
    if (has_ended()) return blocks_.leave(now());
    if (BlockSchedule::is_measured(mark_))
      return blocks_.measure(BlockSchedule::block_of(mark_), now());
    blocks_.settle(block_of_mark(), now());
  }
  RankBlocks::Now now() const {
    return {.steps = result_.steps,
            .submitted = result_.data_wait_ms.size(),
            .made = produced(),
            .taken = consumed()};
  }
  bool begins_anew(std::int64_t mark) const {
    return in_pairs() && mark < Window::kEnded &&
           BlockSchedule::times_anew(mark) > BlockSchedule::times_anew(mark_);
  }
  bool in_blocks() const { return !task_.options.blocks.blocks.empty(); }
  bool in_pairs() const { return task_.options.blocks.in_pairs; }
  const Block& block_of_mark() const {
    return task_.options.blocks.blocks[BlockSchedule::block_of(mark_)];
  }

  // `drawn`: of the queue that is least at rest.
  void decide(double drawn) {
    if (in_pairs() && !both_kinds_have_run_) {
      both_kinds_have_run_ = result_.steps.size() >= kLeastOfBothKinds;
      window_.warm_up_from(result_.steps.size(), longest_warmup_s(task_.options.limits));
      return;
    }
    if (!in_blocks() || window_.mark() == 0) window_.update(result_.steps, drawn, all_made());
    if (!in_blocks() || window_.mark() == 0 || window_.is_over()) return;
    if (in_pairs()) return decide_on_pairs(drawn);
    if (schedule_.mark() == 0) {
      schedule_.begin(result_.steps);
    } else {
      schedule_.update(result_.steps);
    }
    const std::size_t first = window_.first_step();
    if (result_.steps.size() == first) return;
    const double lasted =
        measure::seconds(result_.steps.back().end_ns - result_.steps[first - 1].end_ns);
    const bool is_pass_over =
        pass_steps_ > 0 &&
        (all_made() || static_cast<std::int64_t>(result_.steps.size()) + 2 >= pass_steps_);
    if (schedule_.is_over() || is_pass_over || lasted >= task_.options.limits.max_seconds)
      window_.close(result_.steps);
  }

  // Of a run in pairs: goes on, ends or begins anew where a pair ends.
  void decide_on_pairs(double drawn) {
    const std::size_t ended = schedule_.ended();
    if (schedule_.mark() == 0) {
      schedule_.begin(result_.steps);
      const Shortest least =
          shortest_of(task_.options.blocks, recent_step_s(), task_.options.limits);
      schedule_.set_least(least.steps, least.settling_s);
      return;
    }
    schedule_.update(result_.steps, blocks_.is_quiet());
    if (seconds_since(opened_at_first_) >= task_.options.limits.max_seconds && may_be_cut_off())
      return window_.close(result_.steps);
    if (schedule_.ended() == ended || is_first_of_pair()) return;
    switch (schedule_.is_over() ? PairsNext::end
                                : next_of(pairs_so_far(1, drawn), task_.options.limits)) {
      case PairsNext::another:
        break;
      case PairsNext::end:
        window_.close(result_.steps);
        break;
      case PairsNext::begin_anew:
        schedule_.begin_anew();
        break;
    }
  }
  // `more`: pairs that have ended since the last block was kept.
  PairsSoFar pairs_so_far(std::size_t more, double drawn) const {
    return {.pairs = blocks_.kept().size() / 2 + more,
            .cell_steps = cell_steps(),
            .lasted_s = seconds_since(opened_),
            .run_s = seconds_since(opened_at_first_),
            .drawn = drawn};
  }
  // In the middle of a pair: the second block of one is as good if it is short.
  bool may_be_cut_off() const {
    if (is_first_of_pair()) return !blocks_.kept().empty();
    return BlockSchedule::is_measured(mark_) && steps_of_block() > 0;
  }
  bool is_first_of_pair() const { return BlockSchedule::block_of(mark_) % 2 == 0; }
  double seconds_since(std::size_t step) const {
    return measure::seconds(result_.steps.back().end_ns - result_.steps[step - 1].end_ns);
  }
  // Of the last half of the steps so far.
  double recent_step_s() const {
    const std::size_t from = std::max<std::size_t>(1, result_.steps.size() / 2);
    return seconds_since(from) /
           static_cast<double>(std::max<std::size_t>(1, result_.steps.size() - from));
  }
  // In the blocks so far, the one that is measured included.
  std::int64_t cell_steps() const {
    const bool is_in_cell = BlockSchedule::is_measured(mark_) && !block_of_mark().is_ceiling;
    return blocks_.totals().cell.steps + (is_in_cell ? steps_of_block() : 0);
  }
  // So far, of the block that is measured.
  std::int64_t steps_of_block() const {
    return static_cast<std::int64_t>(result_.steps.size()) - blocks_.first_step();
  }

  void open_window() {
    others_drawn_ = 0;  // from the window before
    opened_ = result_.steps.size();
    if (opened_at_first_ == 0) opened_at_first_ = opened_;
    opened_ns_ = measure::now_ns();
    if (in_pairs()) return;
    queue_.open(produced(), consumed());
    counters_.drop();
    counters_.begin();
  }
  void begin_pairs_anew() {
    blocks_.begin_anew();
    counters_.drop();
    open_window();
  }
  void end_window(double drawn) {
    if (!in_pairs()) {
      counters_.end();
      counters_.keep();
    }
    result_.drawn_from_queue = in_pairs() ? blocks_.drawn_in_pairs() : drawn;
    counters_.write_to(result_);
    // The window begins at the end of a step, a little before this rank has opened it.
    result_.standstills =
        standstills_.between(result_.steps[opened_ - 1].end_ns, measure::now_ns());
    if (host_) result_.host_series = host_->between(opened_ns_, measure::now_ns());
    result_.process = measure::process_size();
    result_.gpu = gpu_.between(opened_ns_, measure::now_ns());
    result_.gpu_problem = gpu_.problem();
  }

  bool has_ended() const { return mark_ >= Window::kEnded; }  // the window
  bool done() const { return mark_ == Window::kDone; }

  // Rank 0's mark; none if a rank's device has failed. The other ranks tell rank 0 what they drew
  // from their queues, which it heeds at the next step.
  std::optional<std::int64_t> agreed_mark(double drawn) {
    constexpr std::int64_t kFailed = std::numeric_limits<std::int64_t>::min();
    const bool decides = group_.rank() == 0;
    const std::int64_t own = device_->has_failed() ? kFailed
                             : decides             ? decided_mark()
                                                   : std::llround(1e9 * drawn);
    const std::vector<std::int64_t> all =
        group_.size() == 1 ? std::vector{own} : group_.all_gather(own);
    if (std::ranges::find(all, kFailed) != all.end()) return std::nullopt;
    if (all.size() == 1) return own;
    const auto most = std::ranges::max_element(all.begin() + 1, all.end(), {}, [](std::int64_t n) {
      return std::abs(static_cast<double>(n));
    });
    others_drawn_ = 1e-9 * static_cast<double>(*most);
    return all.front();
  }

  std::int64_t decided_mark() const {
    if (in_pairs() && window_.mark() == 0) return both_kinds_have_run_ ? kOwnKind : kBothKinds;
    return in_blocks() && !window_.is_over() ? schedule_.mark() : window_.mark();
  }

  double drawn_so_far() const {
    return in_pairs() ? blocks_.drawn(now()) : queue_.drawn(produced(), consumed());
  }
  std::int64_t consumed() const { return taken_ * task_.settings.batch_size; }
  std::int64_t produced() const {
    const bool streams =
        task_.settings.feed == device::Feed::streamed && task_.settings.cache != "host";
    return streams ? loader_->stages()[measure::Stage::collate].items : -1;
  }

  // All of a cold pass.
  bool all_made() const {
    return pass_steps_ > 0 && produced() >= pass_steps_ * task_.settings.batch_size;
  }

  RankResult finish() {
    const auto decided = [&](std::size_t step) {
      return static_cast<std::size_t>(group_.broadcast_number(static_cast<std::int64_t>(step)));
    };
    result_.first = window_.first_step();
    result_.last = window_.last_step();
    keep_blocks();
    result_.first = decided(result_.first);
    result_.last = decided(result_.last);
    if (result_.first == 0 || result_.first >= result_.last || result_.last > result_.steps.size())
      throw Error("rank 0", "decided on a window that cannot be");
    result_.device = device_->describe();  // with what only its steps have shown
    result_.steady = window_.steady();
    result_.samples_ahead_limit = loader_ ? loader_->samples_ahead_limit() : 0;
    if (loader_) result_.loader_library = loader_->library();
    if (loader_) result_.opencv_threads = pipeline::opencv_threads();
    if (trace_) end_trace();
    return std::move(result_);
  }
  // The window of a run in pairs is from the first whole pair to the last one. Without any there is
  // none.
  void keep_blocks() {
    result_.blocks = blocks_.take();
    if (!in_pairs()) return;
    result_.in_pairs = true;
    result_.first = result_.last = 0;
    if (result_.blocks.empty()) return;
    result_.first = static_cast<std::size_t>(result_.blocks.front().first);
    result_.last = static_cast<std::size_t>(result_.blocks.back().last);
    result_.pairs_took_s = measure::seconds(result_.steps[result_.last - 1].end_ns -
                                            result_.steps[opened_ - 1].end_ns);
  }
  // Its workers go on until the loader is gone; who reads the trace has this object behind him.
  void end_trace() {
    std::vector<measure::TraceStep> steps;
    steps.reserve(result_.steps.size());
    for (const device::StepRecord& step : result_.steps)
      steps.push_back({step.start_ns, step.end_ns});
    trace_->set_steps(steps);
    trace_->set_device(result_.device.name + (result_.device.kind == "cpu" ? " (CPU)" : ""));
    trace_->mark("window begins", steps[result_.first - 1].end_ns);
    trace_->mark("window ends", steps[result_.last - 1].end_ns);
    result_.trace = trace_;
  }
  // What was measured of the window remains, if another rank's fault has ended it.
  RankResult interrupted() {
    device_->leave();
    result_.interrupted = true;
    result_.first = opened_;
    result_.last = std::min(result_.steps.size(), result_.data_wait_ms.size());
    keep_blocks();
    if (result_.first == 0 || result_.last <= result_.first) result_.steps.clear();
    return std::move(result_);
  }

  // It says how long a step may take, and nothing of a rate: it does what is done once, too.
  void report_first_step() const {
    const device::StepRecord& first = result_.steps.front();
    task_.progress({.elapsed_s = measure::seconds(first.end_ns - first.start_ns),
                    .settled = device_->settled(),
                    .remaining_s = -1});
  }
  void report_pairs() const {
    RunProgress p = progress_of(blocks_.totals(),
                                static_cast<double>(task_.settings.batch_size) * group_.size());
    p.elapsed_s = seconds_since(opened_);
    p.settled = device_->settled();
    p.remaining_s = seconds_left(pairs_so_far(0, 0), task_.options.limits);
    task_.progress(p);
  }
  void report() {
    constexpr std::int64_t kEvery = 100'000'000;  // ten times a second
    const std::int64_t now = measure::now_ns();
    if (!task_.progress || result_.steps.empty() || now - reported_ns_ < kEvery) return;
    reported_ns_ = now;
    if (result_.steps.size() == 1) return report_first_step();
    if (in_pairs() && mark_ > 0) return report_pairs();
    const bool measuring = mark_ > 0 && result_.steps.size() > window_.first_step();
    const std::size_t from =
        measuring ? window_.first_step() : std::max<std::size_t>(1, result_.steps.size() / 2);
    const std::size_t to = result_.steps.size();
    const double span =
        measure::seconds(result_.steps[to - 1].end_ns - result_.steps[from - 1].end_ns);
    // The device's idle time, not the training thread's waiting: the thread may wait while the
    // device still works.
    double idle = 0;
    for (std::size_t i = from; i < to; ++i) {
      idle +=
          std::max(0.0, measure::seconds(result_.steps[i].start_ns - result_.steps[i - 1].end_ns));
    }
    RunProgress p{.phase = measuring ? Phase::measuring : Phase::warming,
                  .steps = to - from,
                  .elapsed_s = span,
                  .settled = device_->settled(),
                  .remaining_s = -1};
    if (span > 0) {
      p.imgs_per_s =
          static_cast<double>(to - from) * task_.settings.batch_size * group_.size() / span;
      p.device_idle = std::min(1.0, idle / span);
    }
    p.remaining_s = window_.seconds_left(result_.steps);
    task_.progress(p);
  }

  const RankTask& task_;
  device::Group& group_;
  const std::shared_ptr<measure::Trace> trace_;  // null: not traced
  measure::Delays delays_;                       // outlives what serves them
  std::unique_ptr<device::Accelerator> device_;
  const std::unique_ptr<pipeline::ExtraReads> extra_reads_;  // null: none; outlives the loader
  std::unique_ptr<pipeline::Loader> loader_;
  const std::unique_ptr<Discarding> discarding_;  // null: the steps take the loader's batches
  const measure::GpuMonitor gpu_;
  const std::unique_ptr<measure::HostMonitor> host_;
  RankCounters counters_;
  measure::StandstillMonitor standstills_;
  const std::int64_t pass_steps_;  // of a cold pass; else 0
  Window window_;
  BlockSchedule schedule_;  // rank 0's
  RankBlocks blocks_;
  // Of the window, see Window::mark(); while it is open and cut into blocks, BlockSchedule's. Of a
  // run in pairs that warms up: which steps it makes.
  std::int64_t mark_ = 0;
  static constexpr std::int64_t kBothKinds = 0, kOwnKind = -1;
  static constexpr std::size_t kLeastOfBothKinds = 8;
  bool both_kinds_have_run_ = false;  // rank 0's
  std::int64_t taken_ = 0;            // batches, of the cell's own feed
  // Steps at which this rank's window was opened, and its first one was; 0: not yet.
  std::size_t opened_ = 0, opened_at_first_ = 0;
  std::int64_t opened_ns_ = 0;
  QueueBalance queue_;       // of a window without pairs
  double others_drawn_ = 0;  // by the other rank whose queue was least at rest, at the step before
  std::int64_t reported_ns_ = 0;
  RankResult result_;
};

}  // namespace

RankResult run_rank(const RankTask& task, device::Group& group, std::stop_token stop,
                    KeptDevice& kept) {
  RankRun run(task, group, kept);
  RankResult result = run.run(stop);
  // Even one that was told to stop after its last step has left its device.
  const bool has_left = result.interrupted || stop.stop_requested();
  if (!has_left && KeptDevice::keeps(task)) kept.put(task, run.take_device());
  return result;
}

}  // namespace feedrate::run
