#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "judge/slopes.h"
#include "ledger/rounds_file.h"
#include "measure/delays.h"
#include "plan/settings.h"

namespace feedrate::session {

// What is known of them before anything is measured.
judge::Servers servers_of(const plan::CellSettings& settings);

// A delay that is of use for a cell.
struct Probe {
  measure::Place place = measure::Place::worker;
  bool burns = false;
};
// What decides which are.
struct ProbesWanted {
  std::span<const measure::Place> served;  // by the cell's device
  bool storage = false;                    // reads reach it, and more of them can
  bool launching = false;                  // nothing else binds: see Finding
};
std::vector<Probe> probes_of(const plan::CellSettings& settings, const ProbesWanted& wanted);

// Of a run of the ladder, with its warm-up. Many short runs tell more than one long one: half of
// the budget is for some 9 rungs of 3 rounds or more.
double ladder_run_s(double budget_s);

// Of each kind of delay, all rounds together, at least.
inline constexpr int kLeastPairs = 6;

// How what the first ladder (of `ladder_s`) leaves of the budget is spent.
struct DelayPlan {
  ledger::DiagnosisPlan plan;
  // The budget that one round with all pairs would take; nothing where `budget_s` will do.
  std::optional<double> needs_s;
};
DelayPlan plan_of(double budget_s, double ladder_s, double step_s, std::size_t probes);

}  // namespace feedrate::session
