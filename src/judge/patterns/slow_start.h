#pragma once
#include <cstddef>
#include <optional>

#include "judge/patterns.h"
#include "judge/patterns/series.h"

namespace feedrate::judge {

struct SlowStart {
  std::size_t steps = 0;
  Pattern pattern;
};
std::optional<SlowStart> slow_start_of(const Window& w);

}  // namespace feedrate::judge
