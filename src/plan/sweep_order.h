#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan/cell.h"

namespace feedrate::plan {

// One run of a plan.
struct PlannedRun {
  Cell cell;
  std::string role;  // "cell", "ceiling"
  int repetition = 0;
  int place = 0;  // ceilings: 0 opens the repetition, 1 closes it
};

// The order of a sweep: for each repetition and each ceiling, the ceiling, its cells in an order
// shuffled by the seed, the ceiling again. Synthetic cells are the ceilings themselves. A sweep of
// ceilings alone measures each once per repetition. Pure.
std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions,
                                   std::uint64_t seed);

// A plan of one cell: its ceiling once before it, unless `with_ceiling` is false or the cell is
// synthetic itself.
std::vector<PlannedRun> plan_run(const Cell& cell, bool with_ceiling);

}  // namespace feedrate::plan
