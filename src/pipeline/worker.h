#pragma once
#include <algorithm>

#include "measure/affinity.h"
#include "measure/error.h"
#include "pipeline/loader.h"

namespace feedrate {

// One loader worker's own things: its source (decoder, scratch memory) and its time.
class Worker {
 public:
  explicit Worker(const LoaderOptions& options)
      : options_(options), source_(make_sample_source(options.recipe, counters_)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // What the thread of the worker with this number (of all ranks) does before anything else.
  static void enter_thread(const LoaderOptions& options, int worker) {
    use_precise_sleeps();
    if (options.first_cpu >= 0) pin_this_thread(options.first_cpu + worker);
  }

  // Makes the sample at `slot` of the batch with this sequence number. `next`: the stream position that is to be
  // announced meanwhile. In the place of one that cannot be
  // made, where the recipe takes that, stands the next of the dataset, never what the slot held before.
  void fill(HostBatch& batch, int slot, std::int64_t next) {
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
      batch.augmentations[static_cast<std::size_t>(slot)] = draw_augmentation(options_.recipe.augment, spec.size, draw.augment_seed);
    }
    batch.labels[static_cast<std::size_t>(slot)] = samples[static_cast<std::size_t>(draw.sample)].label;
  }
  // All of a batch; after its last sample comes the first of the batch that this worker will have next.
  void fill_all(HostBatch& batch) {
    const std::int64_t size = options_.recipe.spec.batch_size, first = batch.sequence * size;
    const std::int64_t after = first + size * std::max(options_.workers, 1);
    for (int slot = 0; slot < size; ++slot) fill(batch, slot, slot + 1 < size ? first + slot + 1 : after);
    batch.ready_ns = now_ns();
  }
  StageTotals stages() const { return counters_.snapshot(); }

 private:
  static constexpr int kMostBad = 100;  // one after the other: then something else is wrong

  const LoaderOptions& options_;
  StageCounters counters_;
  std::unique_ptr<SampleSource> source_;
};

}  // namespace feedrate
