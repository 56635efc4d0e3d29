#pragma once
#include <optional>

#include "diagnose/patterns.h"
#include "diagnose/patterns/series.h"

namespace feedrate::diagnose {

std::optional<Pattern> uneven_waits_of(const Window& w, const StepsSeen& seen);

}  // namespace feedrate::diagnose
