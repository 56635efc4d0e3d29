#pragma once
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "experiment/ledger.h"
#include "experiment/record.h"

namespace feedrate {

// One run of the plan.
struct PlannedRun {
  Cell cell;
  std::string role;  // "cell", "ceiling"
  int repetition = 0;
  int place = 0;     // ceilings: 0 first, 1 last of the repetition
};

// The order of a sweep: for each repetition, for each machine setting (what has one ceiling), the
// ceiling, the cells in an order shuffled by the seed, the ceiling again. Synthetic cells are the
// ceilings themselves. A sweep of ceilings alone measures each once per repetition. Pure.
std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions, std::uint64_t seed);

// Those of the plan that no record holds as `ok` for the same cell, repetition and place.
std::vector<PlannedRun> missing_of(std::vector<PlannedRun> plan, const std::vector<nlohmann::ordered_json>& records);

struct SweepHooks {
  // Before a run; `number` of `total` that are missing, `ceiling`: its synthetic rate as far as known, images/s.
  std::function<void(const PlannedRun&, std::size_t number, std::size_t total, std::optional<double> ceiling)> started;
  ProgressSink progress;
  // After a run, before its record is stored: adds derived fields.
  std::function<void(nlohmann::ordered_json& record)> derive;
  // After the record was stored.
  std::function<void(const nlohmann::ordered_json& record)> finished;
};

struct SweepOutcome {
  std::size_t ok = 0, failed = 0, skipped = 0;  // skipped: already in the ledger
  bool interrupted = false;
};

// Carries out the plan, appending one record after every run; a failed run does not end the sweep. Runs
// whose (cell, repetition, place) the ledger has as `ok` are skipped. `differing`: see differences(), to be
// asked before; each record is flagged for it.
SweepOutcome run_sweep(const std::vector<PlannedRun>& plan, CellRunner& runner, const RunOptions& options,
                       Ledger& ledger, const nlohmann::ordered_json& environment, const SweepHooks& hooks,
                       std::stop_token stop, const std::vector<std::string>& differing = {});

}  // namespace feedrate
