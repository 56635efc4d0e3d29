#pragma once
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "measure/affinity.h"
#include "measure/cpu_wait.h"
#include "pipeline/loader.h"

namespace feedrate::pipeline {

// What belongs to one loader worker: its source (decoder, scratch memory) and its stage times.
class Worker {
 public:
  explicit Worker(const LoaderOptions& options)
      : options_(options), source_(make_sample_source(options.recipe, counters_)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // What the thread of the worker with this number (of all ranks) does before anything else.
  static void enter_thread(const LoaderOptions& options, int worker) {
    measure::use_precise_sleeps();
    if (options.first_cpu >= 0) measure::pin_this_thread(options.first_cpu + worker);
  }

  // Makes the sample at `slot` of the batch with this sequence number. `next`: the stream position
  // that is announced to the storage meanwhile. A bad sample is replaced by the next one of the
  // dataset if the recipe allows it, never by what the slot held before.
  void fill(HostBatch& batch, int slot, std::int64_t next) {
    leave_out_pause();
    const BatchSpec& spec = options_.recipe.spec;
    const auto& samples = options_.recipe.dataset->samples;
    const std::int64_t index = batch.sequence * spec.batch_size + slot;
    if (options_.read_ahead) source_->expect(options_.sampler.at(next));
    Draw draw = options_.sampler.at(index);
    for (int left = kMostBad;; --left) {
      try {
        source_->make(draw, batch.pixels + static_cast<std::size_t>(slot) * spec.sample_bytes());
        break;
      } catch (const Error& error) {
        source_->give_up();
        if (!options_.recipe.bad || left == 0) throw;
        options_.recipe.bad->add(error.what());
        draw.sample = (draw.sample + 1) % static_cast<std::int64_t>(samples.size());
      }
    }
    if (options_.recipe.augment_on_device) {
      batch.augmentations[static_cast<std::size_t>(slot)] =
          draw_augmentation(options_.recipe.augment, spec.size, draw.augment_seed);
    }
    batch.labels[static_cast<std::size_t>(slot)] =
        samples[static_cast<std::size_t>(draw.sample)].label;
    count_cpu_wait();
  }
  // Makes all samples of a batch. With the last one it announces the first sample of this worker's
  // next batch.
  void fill_all(HostBatch& batch) {
    const std::int64_t size = options_.recipe.spec.batch_size, first = batch.sequence * size;
    const std::int64_t after = first + size * std::max(options_.workers, 1);
    for (int slot = 0; slot < size; ++slot)
      fill(batch, slot, slot + 1 < size ? first + slot + 1 : after);
  }
  measure::StageTotals stages() const { return counters_.snapshot(); }

 private:
  static constexpr int kMostBad = 100;  // in a row: after that many, something else is wrong
  static constexpr std::int64_t kLookNs = 1'000'000;  // a look takes as long as small tensors

  // How long the stages waited for a CPU. A thread that trains as well waits for one there, too,
  // and nobody can tell which.
  void count_cpu_wait() {
    if (options_.workers == 0) return;
    left_ns_ = measure::now_ns();
    if (left_ns_ - looked_ns_ < kLookNs) return;
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
  std::unique_ptr<SampleSource> source_;
  std::optional<measure::CpuWait> cpu_wait_;    // of the thread that calls fill()
  std::int64_t left_ns_ = 0, looked_ns_ = 0;    // fill(); the last look
  std::int64_t seen_ns_ = 0, cpu_wait_ns_ = 0;  // of the thread; of its stages
};

}  // namespace feedrate::pipeline
