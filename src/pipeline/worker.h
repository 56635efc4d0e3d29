#pragma once
#include "pipeline/loader.h"

namespace feedrate {

// One loader worker's own things: its source (decoder, scratch memory) and its time.
class Worker {
 public:
  explicit Worker(const LoaderOptions& options)
      : options_(options), source_(make_sample_source(options.recipe, counters_)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Makes the sample at `slot` of the batch with this sequence number.
  void fill(HostBatch& batch, int slot) {
    const BatchSpec& spec = options_.recipe.spec;
    const Draw draw = options_.sampler.at(batch.sequence * spec.batch_size + slot);
    batch.labels[static_cast<std::size_t>(slot)] =
        options_.recipe.dataset->samples[static_cast<std::size_t>(draw.sample)].label;
    source_->make(draw, batch.pixels + static_cast<std::size_t>(slot) * spec.sample_bytes());
  }
  void fill_all(HostBatch& batch) {
    for (int slot = 0; slot < options_.recipe.spec.batch_size; ++slot) fill(batch, slot);
    batch.ready_ns = now_ns();
  }
  StageTotals stages() const { return counters_.snapshot(); }

 private:
  const LoaderOptions& options_;
  StageCounters counters_;
  std::unique_ptr<SampleSource> source_;
};

}  // namespace feedrate
