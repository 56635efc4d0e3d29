#include "plan/sweep_order.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "plan/expand.h"

namespace feedrate::plan {
namespace {

// In the order of the cells, each once.
std::vector<Cell> ceilings_of(const std::vector<Cell>& cells) {
  std::vector<Cell> ceilings;
  for (const Cell& cell : cells) {
    const Cell ceiling = ceiling_of(cell);
    if (std::ranges::find(ceilings, ceiling) == ceilings.end()) ceilings.push_back(ceiling);
  }
  return ceilings;
}

// The cells of one ceiling, between its two runs.
void append(std::vector<PlannedRun>& plan, const Cell& ceiling, std::vector<Cell> cells,
            int repetition) {
  plan.push_back({ceiling, Role::opening_ceiling, repetition});
  for (Cell& cell : cells) plan.push_back({std::move(cell), Role::cell, repetition});
  if (!cells.empty()) plan.push_back({ceiling, Role::closing_ceiling, repetition});
}

}  // namespace

std::string_view name_of(Role role) { return role == Role::cell ? "cell" : "ceiling"; }

int position_of(Role role) { return role == Role::closing_ceiling ? 1 : 0; }

std::vector<PlannedRun> plan_repetition(const std::vector<Cell>& cells, int repetition,
                                        std::uint64_t seed) {
  const std::vector<Cell> ceilings = ceilings_of(cells);
  std::vector<std::size_t> order(ceilings.size());
  std::iota(order.begin(), order.end(), 0);
  const auto turn = static_cast<std::uint64_t>(repetition);
  shuffle(order, mix64(~seed, turn));
  std::vector<PlannedRun> plan;
  for (const std::size_t c : order) {
    std::vector<Cell> real;
    for (const Cell& cell : cells) {
      if (!cell.is("data", "synthetic") && ceiling_of(cell) == ceilings[c]) real.push_back(cell);
    }
    shuffle(real, mix64(seed, turn * ceilings.size() + c));
    append(plan, ceilings[c], std::move(real), repetition);
  }
  return plan;
}

std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions,
                                   std::uint64_t seed) {
  std::vector<PlannedRun> plan;
  for (int repetition = 0; repetition < repetitions; ++repetition)
    std::ranges::move(plan_repetition(cells, repetition, seed), std::back_inserter(plan));
  return plan;
}

std::vector<PlannedRun> plan_run(const Cell& cell, bool with_ceiling) {
  if (cell.is("data", "synthetic")) return {{cell, Role::opening_ceiling}};
  if (!with_ceiling) return {{cell, Role::cell}};
  return {{ceiling_of(cell), Role::opening_ceiling}, {cell, Role::cell}};
}

}  // namespace feedrate::plan
