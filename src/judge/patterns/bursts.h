#pragma once
#include <optional>

#include "judge/patterns.h"
#include "judge/patterns/series.h"

namespace feedrate::judge {

std::optional<Pattern> bursts_of(const Window& w, const StepsSeen& seen);

}  // namespace feedrate::judge
