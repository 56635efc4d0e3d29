#pragma once
#include <array>
#include <cstdint>

#include "measure/stages.h"

namespace feedrate::pipeline {

// Known service times added to stages, to test measurement and diagnosis against their closed form.
struct PlantedStage {
  std::int64_t ns = 0;        // every sample
  std::int64_t spike_ns = 0;  // on top, for every `every`-th sample of the stream
  std::int64_t every = 0;     // 0: no spikes
  std::int64_t free_first =
      0;               // the first samples of the stream are free: a queue that starts full
  bool burns = false;  // the time is CPU time, taken from whatever else runs; else it is slept
};
using PlantedTimes = std::array<PlantedStage, measure::kStageCount>;

}  // namespace feedrate::pipeline
