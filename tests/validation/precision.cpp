#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ledger/precision.h"
#include "plan/expand.h"
#include "plan/sweep_order.h"
#include "tests/validation/validation.h"

namespace feedrate::tests {
namespace {

constexpr double kCeiling = 1000;
// The true share of each cell, and how far its logarithm scatters from run to run.
struct MadeUpCell {
  double share, noise;
};
constexpr MadeUpCell kCells[] = {{0.95, 0.002}, {0.90, 0.003}, {0.80, 0.004}, {0.70, 0.006},
                                 {0.60, 0.008}, {0.50, 0.012}, {0.40, 0.016}, {0.30, 0.020}};
constexpr double kCommonNoise = 0.02, kDrift = 0.01;

std::vector<plan::Cell> made_up_cells() {
  return plan::expand({{"device", {"emulated:1000"}},
                       {"data", {"jpeg", "png"}},
                       {"workers", {"1", "2", "3", "4"}}});
}

// A machine whose speed differs from repetition to repetition, drifts within each, and scatters. A
// cell's share of the ceiling, measured in pairs with it, only scatters.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : engine_(seed) {}

  std::vector<ledger::MeasuredRate> measure(const std::vector<plan::PlannedRun>& runs,
                                            const std::vector<plan::Cell>& cells) {
    const double common = kCommonNoise * normal_(engine_), slope = kDrift * normal_(engine_);
    std::vector<ledger::MeasuredRate> rates;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(runs.size()) - 0.5;
      const MadeUpCell& of = kCells[std::ranges::find(cells, runs[i].cell) - cells.begin()];
      const double share = of.share * std::exp(of.noise * normal_(engine_));
      rates.push_back({.cell_id = runs[i].cell.id(),
                       .repetition = runs[i].repetition,
                       .valid = true,
                       .imgs_per_s = kCeiling * share * std::exp(common + slope * at),
                       .share = share});
    }
    return rates;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

void append(std::vector<ledger::MeasuredRate>& all, std::vector<ledger::MeasuredRate> more) {
  std::ranges::move(more, std::back_inserter(all));
}

double widest(const std::vector<ledger::CellPrecision>& known) {
  double found = 0;
  for (const ledger::CellPrecision& cell : known) found = std::max(found, cell.half_width);
  return found;
}

// How many runs a fixed number of repetitions of all cells takes until its widest interval is as
// narrow: the fewest for which this happens, which nobody knows beforehand.
std::size_t fixed_runs(const std::vector<plan::Cell>& cells, double target, std::uint64_t seed) {
  Machine machine(seed);
  std::vector<ledger::MeasuredRate> rates;
  for (int n = 1;; ++n) {
    append(rates, machine.measure(plan::plan_repetition(cells, n - 1, seed), cells));
    if (n < plan::kLeastPilot) continue;
    // Its intervals need not be wider: nothing about them has decided how many there are.
    const auto known = ledger::precision_of(cells, {.target = target, .pilot = n}, rates);
    if (widest(known) / plan::kWider <= target) return rates.size();
  }
}

// As sweep_to_precision() goes on, a run costing one of the budget; 0: no budget.
std::vector<ledger::MeasuredRate> sweep(const std::vector<plan::Cell>& cells,
                                        const plan::Precision& precision, double budget_runs,
                                        std::uint64_t seed) {
  Machine machine(seed);
  std::vector<ledger::MeasuredRate> rates;
  for (int repetition = 0;; ++repetition) {
    std::optional<double> most_runs;
    if (budget_runs > 0) most_runs = budget_runs - static_cast<double>(rates.size());
    const auto known = ledger::precision_of(cells, precision, rates);
    const auto next =
        repetition < precision.pilot ? cells : ledger::next_cells(known, precision, most_runs);
    if (next.empty()) return rates;
    append(rates, machine.measure(plan::plan_repetition(next, repetition, seed), cells));
  }
}

}  // namespace

void make_precise_sweeps(int count, double target, double budget_runs) {
  const std::vector<plan::Cell> cells = made_up_cells();
  const plan::Precision precision{.target = target};
  std::map<std::string, std::size_t> number;
  for (const plan::Cell& cell : cells) number.emplace(cell.id(), number.size());
  for (int i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint64_t>(2 * i + 1);
    const auto rates = sweep(cells, precision, budget_runs, seed);
    for (const ledger::MeasuredRate& rate : rates) {
      std::printf("run %d %zu %d %.17g %.17g\n", i, number.at(rate.cell_id), rate.repetition,
                  *rate.imgs_per_s, *rate.share);
    }
    const auto known = ledger::precision_of(cells, precision, rates);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      std::printf("cell %d %zu %.17g %d %d\n", i, c, kCells[c].share, known[c].repetitions,
                  static_cast<int>(known[c].is_met(precision)));
    }
    std::printf("sweep %d %d %zu %zu\n", i, precision.pilot, rates.size(),
                fixed_runs(cells, widest(known), seed + 1));
  }
}

}  // namespace feedrate::tests
