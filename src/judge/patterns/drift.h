#pragma once
#include <optional>

#include "judge/patterns.h"
#include "judge/patterns/series.h"

namespace feedrate::judge {

std::optional<Pattern> drift_of(const Window& w);

}  // namespace feedrate::judge
