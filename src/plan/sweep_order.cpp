#include "plan/sweep_order.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "device/step_trace.h"
#include "pipeline/loader.h"
#include "plan/expand.h"
#include "storage/io_engine.h"

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

// The cells of one ceiling: those that are measured in pairs with it, and the others between its
// two runs. `with_ceiling`: it is a cell itself.
void append(std::vector<PlannedRun>& plan, const Cell& ceiling, std::vector<Cell> cells,
            bool with_ceiling, int repetition) {
  const auto others = std::ranges::stable_partition(cells, may_be_in_pairs);
  if (with_ceiling || !others.empty()) plan.push_back({ceiling, Role::opening_ceiling, repetition});
  for (const Cell& cell : others) plan.push_back({cell, Role::cell, repetition});
  if (!others.empty()) plan.push_back({ceiling, Role::closing_ceiling, repetition});
  for (auto cell = cells.begin(); cell != others.begin(); ++cell)
    plan.push_back({.cell = *cell, .repetition = repetition, .in_pairs = true});
}

}  // namespace

std::string_view name_of(Role role) { return role == Role::cell ? "cell" : "ceiling"; }

std::string why_not_in_pairs(const Cell& cell) {
  if (cell.is("data", "synthetic")) return "";
  if (cell.is("page-cache", "cold")) return "a cold run is one pass over the data";
  if (const auto& io = cell["io"]; io && storage::find_io_engine(*io).past_page_cache)
    return "storage would rest while its ceiling runs, and may give more afterwards";
  if (const auto& device = cell["device"]; device && device::replays_steps(*device))
    return "each block would replay other steps of the recording";
  const auto& loader = cell["loader"];
  const bool has_workers = cell["workers"] && !cell.is("workers", "0");
  const bool pauses = !has_workers || !loader || pipeline::find_loader_kind(*loader).pauses;
  return pauses ? "" : "loader " + *loader + " cannot pause";
}

bool may_be_in_pairs(const Cell& cell) {
  return !cell.is("data", "synthetic") && why_not_in_pairs(cell).empty();
}

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
    const bool is_cell = std::ranges::find(cells, ceilings[c]) != cells.end();
    append(plan, ceilings[c], std::move(real), is_cell, repetition);
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

std::vector<PlannedRun> plan_run(const Cell& cell, bool with_ceiling, bool in_pairs,
                                 int repetitions) {
  std::vector<PlannedRun> plan;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    if (cell.is("data", "synthetic")) {
      plan.push_back({cell, Role::opening_ceiling, repetition});
      continue;
    }
    const bool pairs = with_ceiling && in_pairs && may_be_in_pairs(cell);
    if (with_ceiling && !pairs)
      plan.push_back({ceiling_of(cell), Role::opening_ceiling, repetition});
    plan.push_back({.cell = cell, .repetition = repetition, .in_pairs = pairs});
  }
  return plan;
}

}  // namespace feedrate::plan
