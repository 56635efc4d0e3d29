#pragma once
#include <cstddef>
#include <optional>

#include "diagnose/patterns.h"
#include "diagnose/patterns/series.h"

namespace feedrate::diagnose {

struct SlowStart {
  std::size_t steps = 0;
  Pattern pattern;
};
std::optional<SlowStart> slow_start_of(const Window& w);

}  // namespace feedrate::diagnose
