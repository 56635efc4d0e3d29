#pragma once
#include <optional>

#include "plan/settings.h"

namespace feedrate::plan {

// The rate of an emulated device, images/s, of all GPUs together; nothing for one that trains, or
// whose steps have no length. Of recorded steps, their mean.
std::optional<double> set_rate_of(const CellSettings& settings);

// What the cell's rate cannot exceed: the same, but nothing for recorded steps, some of which are
// shorter than their mean.
std::optional<double> bound_of(const CellSettings& settings);

}  // namespace feedrate::plan
