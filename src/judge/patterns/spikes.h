#pragma once
#include <cstddef>
#include <optional>

#include "judge/patterns.h"
#include "judge/patterns/series.h"

namespace feedrate::judge {

// Every `period`-th step is long, or several of them.
struct Spikes {
  std::size_t period = 0, long_phases = 0;
  Pattern pattern;
};
std::optional<Spikes> spikes_of(const Window& w, const StepsSeen& seen);

}  // namespace feedrate::judge
