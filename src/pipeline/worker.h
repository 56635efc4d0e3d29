#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "measure/affinity.h"
#include "measure/clock.h"
#include "measure/cpu_wait.h"
#include "measure/delays.h"
#include "pipeline/extra_reads.h"
#include "pipeline/loader.h"
#include "pipeline/sample_source.h"

namespace feedrate::pipeline {

// What belongs to one loader worker: its source (storage, decoder, scratch memory) and its stage
// times.
class Worker {
 public:
  explicit Worker(const LoaderOptions& options)
      : options_(options),
        lane_(lane_of(options)),
        source_(options.recipe, counters_, lane_),
        asked_(static_cast<std::size_t>(source_.depth())) {
    for (int place = source_.depth(); place-- > 0;) free_.push_back(place);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // What the thread of the worker with this number (of all ranks) does before anything else.
  static void enter_thread(const LoaderOptions& options, int worker) {
    measure::use_precise_sleeps();
    if (options.first_cpu >= 0) measure::pin_this_thread(options.first_cpu + worker);
  }

  int depth() const { return source_.depth(); }
  // Whether it has asked for as many samples as it may. A diagnosis may withhold some of its
  // places, never the last one: who is idle is not full.
  bool is_full() const {
    return free_.size() <= measure::withheld(options_.recipe.delays, asked_.size());
  }
  bool is_idle() const { return free_.size() == asked_.size(); }

  // Asks for the sample at `slot` of the batch, which stays until finish_one() has made it; not if
  // the worker is full. Returns its place, by which finish_one() names it.
  int ask(HostBatch& batch, int slot) {
    const BatchSpec& spec = options_.recipe.spec;
    const int place = free_.back();
    free_.pop_back();
    const Draw draw = options_.sampler.at(batch.sequence * spec.batch_size + slot);
    asked_[static_cast<std::size_t>(place)] = {
        &batch, slot, draw, batch.pixels + static_cast<std::size_t>(slot) * spec.sample_bytes()};
    source_.ask(place, draw, asked_[static_cast<std::size_t>(place)].out);
    return place;
  }

  // Makes one of the samples that were asked for, whichever is read first; returns its place. A bad
  // sample is replaced by the next one of the dataset if the recipe allows it, never by what the
  // slot held before.
  int finish_one() {
    std::optional<Gate::Pass> pass;
    if (options_.gate) pass.emplace(*options_.gate);
    leave_out_pause();
    for (;;) {
      const int place = source_.await();
      Asked& asked = asked_[static_cast<std::size_t>(place)];
      try {
        source_.make(place);
        label(asked);
        free_.push_back(place);
        if (options_.recipe.bad) options_.recipe.bad->count_draw();
        if (options_.recipe.extra_reads) options_.recipe.extra_reads->sample_made();
        serve_delay();
        return place;
      } catch (const Error& error) {
        if (!options_.recipe.bad) throw;
        options_.recipe.bad->add(asked.draw.sample, std::string(error.without_remedy()),
                                 /*was_drawn=*/asked.bad == 0);
        if (++asked.bad == most_bad()) refuse_all();
        asked.draw.sample = (asked.draw.sample + 1) %
                            static_cast<std::int64_t>(options_.recipe.dataset->samples.size());
        source_.ask(place, asked.draw, asked.out);
      }
    }
  }

  // Makes all samples of a batch, while nothing else is asked for.
  void fill_all(HostBatch& batch) {
    const int size = options_.recipe.spec.batch_size;
    try {
      for (int asked = 0, made = 0; made < size; ++made) {
        for (; asked < size && !is_full(); ++asked) ask(batch, asked);
        finish_one();
      }
    } catch (...) {
      let_go();
      throw;
    }
  }
  // Waits until nothing is on its way to a batch any more.
  void let_go() { source_.let_go(); }
  // Notes that the batch is whole.
  void tell_ready(HostBatch& batch) const {
    if (lane_) batch.ready_ns = measure::now_ns();
  }
  measure::StageTotals stages() const { return counters_.snapshot(); }
  void add_latencies(storage::ReadLatencies& to) const { source_.add_latencies(to); }

 private:
  // A sample that was asked for, by place.
  struct Asked {
    HostBatch* batch = nullptr;
    int slot = 0;
    Draw draw;
    std::byte* out = nullptr;
    int bad = 0;  // samples that were tried for it, in a row
  };

  // A worker that is the training thread has that one's row.
  static measure::TraceLane* lane_of(const LoaderOptions& options) {
    if (!options.trace) return nullptr;
    return options.workers == 0 ? &options.trace->training() : &options.trace->add_worker();
  }

  void label(const Asked& asked) const {
    const auto slot = static_cast<std::size_t>(asked.slot);
    if (options_.recipe.augment_on_device) {
      asked.batch->augmentations[slot] = draw_augmentation(
          options_.recipe.augment, options_.recipe.spec.size, asked.draw.augment_seed);
    }
    asked.batch->labels[slot] =
        options_.recipe.dataset->samples[static_cast<std::size_t>(asked.draw.sample)].label;
  }

  // In a row: after that many, something else is wrong. No sample is tried twice.
  int most_bad() const {
    constexpr std::size_t kMost = 100;
    return static_cast<int>(std::min(kMost, options_.recipe.dataset->samples.size()));
  }
  [[noreturn]] void refuse_all() const {
    const storage::DatasetVariant& dataset = *options_.recipe.dataset;
    const auto tried = static_cast<std::size_t>(most_bad());
    throw Error(
        dataset.folder.string(),
        (tried == dataset.samples.size() ? "all " + std::to_string(tried) + " samples are bad"
                                         : std::to_string(tried) + " samples in a row are bad") +
            "; the first: " + options_.recipe.bad->totals().first(),
        "`feedrate verify DIR` lists them");
  }

  static constexpr std::int64_t kLookNs = 1'000'000;  // a look takes as long as small tensors

  // Delays the sample, if that is asked for now. It is made by then and counted: what the thread
  // sleeps, burns, or waits for a CPU meanwhile is no stage's. The looks that keep this apart cost
  // CPU time themselves, which is a part of the delay: it is as long as was asked for.
  void serve_delay() {
    constexpr measure::Place kHere = measure::Place::worker;
    const std::int64_t slept = measure::slept(options_.recipe.delays, kHere);
    const std::int64_t burnt = measure::burnt(options_.recipe.delays, kHere);
    const bool delayed = slept > 0 || burnt > 0;
    const std::int64_t cpu = delayed ? measure::thread_cpu_ns() : 0;
    count_cpu_wait(delayed);
    if (!delayed) return;
    source_.settle();
    const int looks = options_.workers == 0 ? 1 : 2;  // the second one follows
    const std::int64_t cost = looks * (measure::thread_cpu_ns() - cpu);
    if (slept > 0) sleep_.sleep(slept - cost);
    if (burnt > 0) measure::burn(burnt - cost);
    if (options_.workers == 0) return;
    look();
    left_ns_ = looked_ns_;
  }
  // How long the stages waited for a CPU. A thread that trains as well waits for one there, too,
  // and nobody can tell which.
  void count_cpu_wait(bool at_once) {
    if (options_.workers == 0) return;
    // Planted times follow the last lap, and the stages' timer does not see them.
    left_ns_ = options_.recipe.planted ? measure::now_ns() : source_.last_ns();
    if (!at_once && left_ns_ - looked_ns_ < kLookNs) return;
    cpu_wait_ns_ += look();
    counters_.set_cpu_wait(cpu_wait_ns_);
  }
  // A worker that comes back from waiting for a slab or for room in the queue may have waited for a
  // CPU there, outside the stages.
  void leave_out_pause() {
    if (options_.workers > 0 && measure::now_ns() - left_ns_ > kLookNs) look();
  }
  // Since the last look.
  std::int64_t look() {
    if (!cpu_wait_) cpu_wait_.emplace();
    looked_ns_ = measure::now_ns();
    const std::int64_t now = cpu_wait_->ns();
    return now - std::exchange(seen_ns_, now);
  }

  const LoaderOptions& options_;
  measure::StageCounters counters_;
  measure::TraceLane* const lane_;  // null: not traced
  SampleSource source_;
  std::vector<Asked> asked_;
  std::vector<int> free_;  // places
  measure::ExactSleep sleep_;
  std::optional<measure::CpuWait> cpu_wait_;    // of the thread that calls finish_one()
  std::int64_t left_ns_ = 0, looked_ns_ = 0;    // finish_one(); the last look
  std::int64_t seen_ns_ = 0, cpu_wait_ns_ = 0;  // of the thread; of its stages
};

}  // namespace feedrate::pipeline
