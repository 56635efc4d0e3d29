#pragma once
#include <optional>

#include "diagnose/patterns.h"
#include "diagnose/patterns/series.h"

namespace feedrate::diagnose {

std::optional<Pattern> drift_of(const Window& w);

}  // namespace feedrate::diagnose
