#include "plan/sweep_order.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "plan/expand.h"

namespace feedrate::plan {
namespace {

// Fisher-Yates by our own generator: the same order everywhere for the same seed.
void shuffle(std::vector<Cell>& cells, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = cells.size(); i > 1; --i) {
    std::swap(cells[i - 1], cells[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
}

}  // namespace

std::string_view name_of(Role role) { return role == Role::cell ? "cell" : "ceiling"; }

int position_of(Role role) { return role == Role::closing_ceiling ? 1 : 0; }

std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions,
                                   std::uint64_t seed) {
  std::vector<Cell> ceilings;
  for (const Cell& cell : cells) {
    const Cell ceiling = ceiling_of(cell);
    if (std::ranges::find(ceilings, ceiling) == ceilings.end()) ceilings.push_back(ceiling);
  }
  std::vector<PlannedRun> plan;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t c = 0; c < ceilings.size(); ++c) {
      std::vector<Cell> real;
      for (const Cell& cell : cells) {
        if (!cell.is("data", "synthetic") && ceiling_of(cell) == ceilings[c]) real.push_back(cell);
      }
      shuffle(real, mix64(seed, static_cast<std::uint64_t>(repetition) * ceilings.size() + c));
      plan.push_back({ceilings[c], Role::opening_ceiling, repetition});
      for (Cell& cell : real) plan.push_back({std::move(cell), Role::cell, repetition});
      if (!real.empty()) plan.push_back({ceilings[c], Role::closing_ceiling, repetition});
    }
  }
  return plan;
}

std::vector<PlannedRun> plan_run(const Cell& cell, bool with_ceiling) {
  if (cell.is("data", "synthetic")) return {{cell, Role::opening_ceiling}};
  if (!with_ceiling) return {{cell, Role::cell}};
  return {{ceiling_of(cell), Role::opening_ceiling}, {cell, Role::cell}};
}

}  // namespace feedrate::plan
