#pragma once
#include <optional>

#include "judge/patterns.h"
#include "judge/patterns/series.h"

namespace feedrate::judge {

// The pattern "desynchronised".
std::optional<Pattern> desynchronised_of(const Window& w, const StepsSeen& seen);

}  // namespace feedrate::judge
