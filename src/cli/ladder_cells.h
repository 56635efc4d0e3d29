#pragma once
#include <map>
#include <optional>
#include <string>

#include "diagnose/ladder.h"
#include "plan/cell.h"

namespace feedrate::cli {

// The rungs of a cell's ladder that can be had: each is the cell with other data or another cache.
using LadderCells = std::map<diagnose::Rung, plan::Cell>;
LadderCells ladder_of(const plan::Cell& cell);

// The rung that the cell itself is.
diagnose::Rung own_rung(const plan::Cell& cell);

// The cell with other values, empty ones as by default; nothing where that cannot be, as no
// `decoded` of tensors.
std::optional<plan::Cell> with(const plan::Cell& cell,
                               const std::map<std::string, std::string>& others);

}  // namespace feedrate::cli
