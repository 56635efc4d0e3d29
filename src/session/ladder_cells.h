#pragma once
#include <map>
#include <optional>
#include <string>

#include "judge/ladder.h"
#include "plan/cell.h"

namespace feedrate::session {

// The rungs of a cell's ladder that can be had: each is the cell with other data or another cache.
using LadderCells = std::map<judge::LadderRung, plan::Cell>;
LadderCells ladder_of(const plan::Cell& cell);

// The rung that the cell itself is.
judge::LadderRung own_rung(const plan::Cell& cell);

// The cell with other values, empty ones as by default. Throws a UsageError where that cannot be,
// as no `decoded` of tensors.
plan::Cell changed(const plan::Cell& cell, const std::map<std::string, std::string>& others);
// The same; nothing where it cannot be.
std::optional<plan::Cell> with(const plan::Cell& cell,
                               const std::map<std::string, std::string>& others);

}  // namespace feedrate::session
