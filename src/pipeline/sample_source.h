#pragma once
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "measure/stages.h"
#include "pipeline/sample_maker.h"
#include "pipeline/sample_recipe.h"
#include "pipeline/sampler.h"
#include "storage/storage.h"

namespace feedrate::pipeline {

// Makes finished samples: name -> bytes -> pixels -> a batch's slot. The files of several samples
// may be on their way at once, in places that are numbered from 0. One per worker, not thread-safe;
// its time goes to the worker's StageCounters.
class SampleSource {
 public:
  // All outlive it. `lane`: where each stage of each sample is kept; null: nowhere. Throws what
  // opening the storage throws.
  SampleSource(const SampleRecipe& recipe, measure::StageCounters& counters,
               measure::TraceLane* lane = nullptr);

  // How many samples may be asked for and not yet made.
  int depth() const { return static_cast<int>(places_.size()); }
  // Asks for a sample in a free place. From now until it is made, the slot `out` is the storage's
  // to write to.
  void ask(int place, const Draw& draw, std::byte* out);
  // Waits until the file of one that was asked for is there, or cannot be read; returns its place.
  int await();
  // Makes the sample in that place, which then is free. Writes BatchSpec::sample_bytes() bytes.
  // Throws an Error that names the file.
  void make(int place);
  // Waits for all that was asked for; none of it will be made.
  void let_go();
  // All of it for one sample, while no place is taken.
  void make(const Draw& draw, std::byte* out);

  // When the last sample's last stage ended, or await() last began: by measure::now_ns().
  std::int64_t last_ns() const { return timer_.last_ns(); }

  // Before the thread computes something that is no sample's.
  void settle() { timer_.settle(); }

  // Any thread may ask at any time.
  void add_latencies(storage::ReadLatencies& to) const {
    if (storage_) storage_->add_latencies(to);
  }

 private:
  struct Place {
    Draw draw;
    std::byte* out = nullptr;
    FileBytes file;
    std::exception_ptr error;
  };
  const storage::SampleFile& file_of(const Draw& draw) const {
    return recipe_.dataset->samples[static_cast<std::size_t>(draw.sample)];
  }
  storage::ReadCompletion next_read();

  const SampleRecipe& recipe_;
  storage::SampleNames names_;
  measure::StageTimer timer_;
  std::unique_ptr<SampleMaker> maker_;
  std::unique_ptr<storage::Storage> storage_;  // null: from a cache
  std::vector<Place> places_;
  std::vector<storage::ReadRequest> asked_;  // not yet submitted
  int on_their_way_ = 0;                     // submitted, and not yet there
};

}  // namespace feedrate::pipeline
