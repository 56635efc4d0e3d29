#pragma once
#include <optional>

#include "diagnose/patterns.h"
#include "diagnose/patterns/series.h"

namespace feedrate::diagnose {

// The pattern "desynchronised".
std::optional<Pattern> desynchronised_of(const Window& w, const StepsSeen& seen);

}  // namespace feedrate::diagnose
