#include "session/precise_sweep.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "ledger/plan_file.h"
#include "ledger/precision.h"
#include "measure/clock.h"
#include "plan/expand.h"

namespace feedrate::session {
namespace {

using Json = nlohmann::ordered_json;

// Without a budget nobody waits for more.
constexpr int kMostRepetitions = 200;
constexpr int kMostShownRepetitions = 100'000;

// What is known of all cells, and what it takes to know them better.
class State {
 public:
  State(const std::vector<plan::Cell>& cells, const PrecisionOptions& options, int pilot,
        const std::vector<Json>& records, Watcher& watcher)
      : cells_(cells), options_(options), precision_(options.precision(pilot)), watcher_(watcher) {
    for (const Json& record : records) {
      add(record);
      records_.back().has_failed = false;  // it is tried again
    }
  }

  void add(const Json& record) { records_.push_back(ledger::rate_of(record)); }
  void look() { known_ = ledger::precision_of(cells_, precision_, records_); }

  // The first repetition, from the pilot's end on, that the ledger has nothing of.
  int first_new_repetition() const {
    int next = precision_.pilot;
    for (const ledger::MeasuredRate& rate : records_) next = std::max(next, rate.repetition + 1);
    return next;
  }

  // Cells of a repetition; `most_runs`: for how many there is time, by the budget.
  std::vector<plan::Cell> next(int repetition, std::optional<double> most_runs) const {
    if (repetition < precision_.pilot) return of_the_pilot(most_runs);
    std::vector<ledger::CellPrecision> within = known_;
    if (!most_runs) std::erase_if(within, is_out_of_reach);
    return ledger::next_cells(within, precision_, most_runs);
  }

  // "3 of 10 cells are not within ±2 % yet: about 14 runs"
  void say_what_is_left(int repetition, double each_s) const {
    const auto open = static_cast<std::size_t>(std::ranges::count_if(
        known_, [&](const auto& cell) { return !cell.has_failed && !cell.is_met(precision_); }));
    if (!options_.target || repetition < precision_.pilot || open == 0) return;
    const double runs = runs_left();
    watcher_.logs(format("%zu of %zu cells not within ±%.3g %% yet: about %.0f runs, ", open,
                         known_.size(), 100 * *options_.target, runs) +
                  duration(runs * each_s));
  }

  void say_outcome() const {
    for (const ledger::CellPrecision& cell : known_) {
      if (is_met(cell)) continue;
      watcher_.logs("  ±" + width(cell) + "  " + cell.cell.label() + ": " + why_not(cell));
    }
    const auto met = std::ranges::count_if(known_, [&](const auto& c) { return is_met(c); });
    if (options_.target) {
      watcher_.logs(format("%td of %zu cells within ±%.3g %% of their share (95 %%)", met,
                           known_.size(), 100 * *options_.target));
    }
  }

 private:
  std::vector<plan::Cell> of_the_pilot(std::optional<double> most_runs) const {
    std::vector<plan::Cell> cells;
    if (most_runs && *most_runs < 1) return cells;
    for (const ledger::CellPrecision& cell : known_)
      if (!cell.has_failed) cells.push_back(cell.cell);
    return cells;
  }
  static bool is_out_of_reach(const ledger::CellPrecision& cell) {
    return cell.needed > kMostRepetitions;
  }
  bool is_met(const ledger::CellPrecision& cell) const {
    return options_.target && cell.is_met(precision_);
  }
  static std::string width(const ledger::CellPrecision& cell) {
    return std::isfinite(cell.half_width) ? format("%.2g %%", 100 * cell.half_width) : "?";
  }
  std::string why_not(const ledger::CellPrecision& cell) const {
    const std::string n =
        format("%d repetition%s", cell.repetitions, cell.repetitions == 1 ? "" : "s");
    if (cell.has_failed) return n + ", it or its ceiling failed too often";
    if (cell.needed == 0) return n + format(", the first %d are not complete", precision_.pilot);
    if (!options_.target) return n;
    const std::string needs = n + (cell.needed < kMostShownRepetitions
                                       ? format(", needs about %d", cell.needed)
                                       : format(", needs more than %d", kMostShownRepetitions));
    return options_.budget_s ? needs + "; raise --budget"
                             : needs + "; raise --target-ci, or give a --budget to spend on it";
  }
  // By what is known now: of each cell, and of its ceiling as often as one of its cells.
  double runs_left() const {
    std::map<std::string, int> ceilings;
    double runs = 0;
    for (const ledger::CellPrecision& cell : known_) {
      if (cell.has_failed || cell.is_met(precision_) || is_out_of_reach(cell)) continue;
      const int more = std::max(cell.needed - cell.repetitions, 1);
      runs += more;
      if (plan::may_be_in_pairs(cell.cell)) continue;  // it brings its ceiling with it
      int& its = ceilings[plan::ceiling_of(cell.cell).id()];
      its = std::max(its, more);
    }
    for (const auto& [ceiling, more] : ceilings) runs += 2 * more;
    return runs;
  }

  const std::vector<plan::Cell>& cells_;
  const PrecisionOptions& options_;
  const plan::Precision precision_;
  Watcher& watcher_;
  std::vector<ledger::MeasuredRate> records_;
  std::vector<ledger::CellPrecision> known_;
};

// The target is about shares. Ceilings run beside their cells anyway, and their own rates may
// wander. A synthetic cell that is no other cell's ceiling stays.
std::vector<plan::Cell> without_ceilings(std::vector<plan::Cell> cells) {
  std::set<std::string> ceilings;
  for (const plan::Cell& cell : cells)
    if (!cell.is("data", "synthetic")) ceilings.insert(plan::ceiling_of(cell).id());
  std::erase_if(cells, [&](const plan::Cell& cell) { return ceilings.contains(cell.id()); });
  return cells;
}

// A repetition as the folder's sweeps planned it, with those of the cells that it was for; empty:
// the ledger has all of it.
std::vector<plan::PlannedRun> left_over_of(const Session& session, std::vector<plan::Cell> cells,
                                           int repetition) {
  const auto planned = ledger::planned_cells(session.options().output, repetition);
  std::erase_if(cells, [&](const plan::Cell& cell) { return !planned.contains(cell.id()); });
  const auto runs = plan::plan_repetition(cells, repetition, session.options().run.seed);
  return session.missing(runs).empty() ? std::vector<plan::PlannedRun>{} : runs;
}

}  // namespace

double least_seconds(const run::RunLimits& limits) {
  return limits.warmup_seconds + limits.min_seconds;
}

void check_precision(const PrecisionOptions& options, int pilot, std::size_t pilot_runs,
                     const run::RunLimits& limits) {
  if (pilot < plan::kLeastPilot) {
    throw UsageError("--repetitions " + std::to_string(pilot),
                     "is too few for --target-ci or --budget: they need an interval",
                     "use " + std::to_string(plan::kLeastPilot) + " or more");
  }
  const double least_s = least_seconds(limits) * static_cast<double>(pilot_runs);
  if (options.budget_s && *options.budget_s < least_s) {
    throw UsageError("--budget " + duration(*options.budget_s),
                     "is too short: the first " + std::to_string(pilot) +
                         " repetitions take at least " + duration(least_s),
                     "raise it, measure fewer cells, or lower --repetitions (to " +
                         std::to_string(plan::kLeastPilot) + ") or --min-seconds");
  }
}

void check_pilot(const ledger::Ledger& ledger, int pilot) {
  for (const Json& record : ledger.records()) {
    if (!record.contains("precision")) continue;
    const int recorded = record["precision"].at("pilot");
    if (recorded == pilot) continue;
    throw UsageError("--repetitions " + std::to_string(pilot),
                     "is not what the sweep began with, and its intervals are by those",
                     "use --repetitions " + std::to_string(recorded));
  }
}

SweepOutcome sweep_to_precision(Session& session, const std::vector<plan::Cell>& cells,
                                const PrecisionOptions& options, int pilot, SweepHooks hooks) {
  const run::RunOptions& run = session.options().run;
  const std::int64_t began_ns = measure::now_ns();
  const auto elapsed_s = [&] { return measure::seconds(measure::now_ns() - began_ns); };
  const std::vector<plan::Cell> judged = without_ceilings(cells);
  State state(judged, options, pilot, session.ledger()->records(), session.watcher());
  std::size_t done = 0;
  hooks.finished = [&, told = hooks.finished](const ledger::Record& record, const Json& json) {
    told(record, json);
    state.add(json);
    ++done;
  };
  int repetition = 0;
  // What a stopped sweep left of its last repetition after the pilot.
  std::vector<plan::PlannedRun> left_over;
  if (const int last = state.first_new_repetition() - 1; last >= pilot)
    left_over = left_over_of(session, judged, last);
  const auto next = [&]() -> std::vector<plan::PlannedRun> {
    const double each_s =
        done == 0 ? least_seconds(run.limits) : elapsed_s() / static_cast<double>(done);
    std::optional<double> most_runs;
    if (options.budget_s) most_runs = (*options.budget_s - elapsed_s()) / each_s;
    state.look();
    if (repetition == pilot && !left_over.empty()) {
      const auto due = static_cast<double>(session.missing(left_over).size());
      if (due <= most_runs.value_or(due)) return std::exchange(left_over, {});
      left_over.clear();
    }
    if (repetition >= pilot) repetition = state.first_new_repetition();
    state.say_what_is_left(repetition, each_s);
    const std::vector<plan::Cell> cells_now = state.next(repetition, most_runs);
    return plan::plan_repetition(cells_now, repetition++, run.seed);
  };
  hooks.more = next;
  const SweepOutcome outcome =
      run_sweep(session, next(), hooks, /*stop_at_failure=*/false, options.precision(pilot));
  state.look();
  state.say_outcome();
  return outcome;
}

}  // namespace feedrate::session
