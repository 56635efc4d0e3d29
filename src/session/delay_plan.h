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
  bool in_flight = false;                  // judge::may_reads_in_flight_limit(); of large batches
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
  double pair_s = 0;           // of one pair of blocks, at least
  bool holds_no_pair = false;  // one pair would go beyond the budget by more than a diagnosis may
};
DelayPlan plan_of(double budget_s, double ladder_s, double step_s, std::size_t probes);

// A smaller batch for the blocks, with which kLeastPairs pairs of each kind of delay fit into the
// budget: the largest half, quarter ... of the cell's. Nothing where its own fit, where none does,
// or where such a step would be another one: of an emulated device only the rate is known, which
// is the same for each batch, as long as nothing else takes its time by the step, and a loader that
// drains at each batch's end has its reads in flight; recorded steps are of the batch that they
// were recorded with. Of one `cpu` a quarter at least, and only if the steps are in proportion,
// which has to be measured: LiveRounds::keeps_rates(). The other arguments: as for plan_of().
std::optional<int> smaller_batch(const plan::CellSettings& settings, double budget_s,
                                 double ladder_s, double step_s, std::size_t probes);

}  // namespace feedrate::session
