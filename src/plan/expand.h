#pragma once
#include <map>
#include <string>
#include <vector>

#include "plan/cell.h"

namespace feedrate::plan {

// The values typed for each axis; an axis without an entry has its fallback.
using AxisValues = std::map<std::string, std::vector<std::string>, std::less<>>;

// The product of the axes as resolved cells, equal ones collapsed, in the order of the axes. Pure,
// but for files of recorded steps, whose content it reads.
// Throws UsageError for unknown axes or values, and for combinations that cannot be.
std::vector<Cell> expand(const AxisValues& chosen);

// The ceiling that a cell is compared with: synthetic data with the same values on the axes that
// belong to the ceiling.
Cell ceiling_of(const Cell& cell);

}  // namespace feedrate::plan
