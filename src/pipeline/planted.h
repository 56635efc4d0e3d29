#pragma once
#include <array>
#include <cstdint>

#include "measure/stages.h"

namespace feedrate {

// Known service times added to stages, to test measurement and diagnosis against their closed form.
struct PlantedStage {
  std::int64_t ns = 0;         // every sample
  std::int64_t spike_ns = 0;   // on top, for every `every`-th sample of the stream
  std::int64_t every = 0;      // 0: no spikes
  std::int64_t free_first = 0;  // the first samples of the stream are free: a queue that starts full
};
using PlantedTimes = std::array<PlantedStage, kStageCount>;

// Serves planted times in one worker: sleeps, so that any number of workers can be planted on few
// CPUs. What one sleep overshoots is taken off the next, so the mean is exact.
class PlantedDelay {
 public:
  explicit PlantedDelay(const PlantedTimes* times) : times_(times) {}
  void serve(Stage stage, std::int64_t stream_index) {
    if (times_) sleep(stage, stream_index);
  }
  bool planted() const { return times_ != nullptr; }

 private:
  void sleep(Stage stage, std::int64_t stream_index);
  const PlantedTimes* times_;  // null: nothing planted, as in every real run
  std::int64_t owed_ns_ = 0;
};

}  // namespace feedrate
