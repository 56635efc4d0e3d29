#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/cell.h"

namespace feedrate::plan {

enum class Role { cell, opening_ceiling, closing_ceiling };

// "cell" or "ceiling", as the ledger says it.
std::string_view name_of(Role role);
// 1 for the ceiling that closes a repetition, otherwise 0.
int position_of(Role role);

// One run of a plan.
struct PlannedRun {
  Cell cell;
  Role role = Role::cell;
  int repetition = 0;
  // Of a search (`feedrate capacity`): its number in it, from 0. Each run then reads the samples in
  // an order of its own, so that what a server keeps of one run's is not the beginning of the next.
  std::optional<int> search_run{};
  // Of a search: its longest window, seconds, where that is not the command's.
  std::optional<double> max_seconds{};
  // A cell's: its run measures its ceiling as well, see may_be_in_pairs().
  bool in_pairs = false;

  // Of its samples; `base`: the command's. Wraps.
  std::uint64_t seed(std::uint64_t base) const {
    return base + static_cast<std::uint64_t>(search_run.value_or(0));
  }
};

// Why one run cannot measure a cell in pairs of blocks with its ceiling (run/pairs.h); empty: it
// can, or the cell is a ceiling itself.
std::string why_not_in_pairs(const Cell& cell);
// Whether it can. A ceiling cannot.
bool may_be_in_pairs(const Cell& cell);

// The order of a sweep. Each repetition has the ceilings, and the cells of each, in another order,
// shuffled by the seed: what changes from the start to the end of a repetition, as temperatures do,
// hits each alike. Where not all cells of a ceiling can be measured in pairs, the ceiling is run
// before and after those that cannot. Synthetic cells are the ceilings themselves, and are measured
// once. Pure.
std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions,
                                   std::uint64_t seed);
// One repetition of it, of these cells.
std::vector<PlannedRun> plan_repetition(const std::vector<Cell>& cells, int repetition,
                                        std::uint64_t seed);

// A plan of one cell: in pairs with its ceiling or, where that cannot be or `in_pairs` is false,
// with the ceiling once before it, in each repetition. Without the ceiling if `with_ceiling` is
// false, or the cell is synthetic itself.
std::vector<PlannedRun> plan_run(const Cell& cell, bool with_ceiling, bool in_pairs,
                                 int repetitions = 1);

}  // namespace feedrate::plan
