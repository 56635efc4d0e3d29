#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/record.h"
#include "plan/sweep_order.h"
#include "ranks/launch.h"
#include "ranks/rank_processes.h"
#include "run/cell_runner.h"
#include "session/experiment_options.h"
#include "session/signals.h"
#include "session/sweep.h"
#include "session/watcher.h"

namespace feedrate::session {

// What takes names out of the records; nothing where that is not asked for.
std::optional<ledger::Anonymizer> anonymizer_of(const ExperimentOptions& options);
// The environment as the records will hold it; --resume compares it.
nlohmann::ordered_json environment_of(const ExperimentOptions& options,
                                      const std::optional<ledger::Anonymizer>& anonymizer);

// How `run` and `sweep` measure: the same steps, in this order. For rank 0's process, or one that
// no launcher has started.
class Measuring {
 public:
  // `cells`: what is measured; the same in every rank's process. `options`, `watcher` outlive it.
  Measuring(const ExperimentOptions& options, const std::vector<plan::Cell>& cells,
            const std::optional<ranks::Launch>& launch, Watcher& watcher);

  // Whether all ranks are there; not if a signal came while they were waited for.
  bool ready() const { return ranks_ != nullptr; }

  // What a cell reads. Throws an Error.
  std::shared_ptr<const storage::DatasetVariant> dataset_of(const plan::Cell& cell);

  // Refuses what cannot be measured. Throws an Error or an UnreadableDataset.
  void check(const std::vector<plan::PlannedRun>& plan);

  // The same for a sweep, which goes on without what it cannot read: says of each such dataset, in
  // one line, why, and that its cells are going to fail. Returns how many cells these are. Throws
  // as check() does where no dataset can be read.
  std::size_t check_but_go_on(const std::vector<plan::PlannedRun>& plan);

  // Opens the folder's ledger and writes axes.json beside it; run() writes plan.json. Without a
  // folder nothing is kept. The environment is looked at now: datasets that are measured were
  // opened before, and so their storage answers. `resume`: adds to a ledger that holds records;
  // `force`: even where they were measured otherwise; no value: the command has no such option.
  // Throws an Error.
  void open_ledger(const std::vector<plan::PlannedRun>& plan, bool resume,
                   std::optional<bool> force = {});
  const ledger::Ledger* ledger() const { return ledger_.get(); }

  // The runs of the plan that the ledger lacks.
  std::vector<plan::PlannedRun> missing(const std::vector<plan::PlannedRun>& plan) const;

  // A repetition as the folder's sweeps planned it, with those of the cells that it was for; empty:
  // the ledger has all of it.
  std::vector<plan::PlannedRun> left_over(std::vector<plan::Cell> cells, int repetition) const;

  // `precision`: what the sweep was asked for; goes into its records.
  SweepOutcome run(const std::vector<plan::PlannedRun>& plan, const SweepHooks& hooks,
                   bool stop_at_failure, const std::optional<plan::Precision>& precision = {});

  // Where the cell's device can be delayed.
  std::span<const measure::Place> delays_served(const plan::Cell& cell);

  // A cell cut into blocks, see run/blocks.h. The ledger keeps nothing of it.
  run::CellResult run_blocks(const plan::Cell& cell, const run::BlockPlan& blocks,
                             double most_seconds, const run::ProgressSink& progress,
                             std::uint64_t seed);

  Watcher& watcher() const { return watcher_; }

  // A line for a file of the ledger's folder: without names, if the ledger is to have none.
  std::string cleaned(const std::string& line) const;

  // 128 + signal if one came, else `otherwise`.
  int exit_code(int otherwise) const { return signals_.exit_code(otherwise); }

 private:
  using CellsByError = std::map<std::string, std::set<std::string>>;  // their ids, by the line

  void check_devices(const std::vector<plan::PlannedRun>& plan);
  std::size_t say_unreadable(const CellsByError& cells) const;
  std::vector<plan::PlannedRun> keep(std::vector<plan::PlannedRun> runs) const;  // in plan.json

  const ExperimentOptions& options_;
  Watcher& watcher_;
  const SignalWatcher signals_;
  const std::unique_ptr<ranks::RankProcesses> ranks_;
  device::AcceleratorRegistry registry_;
  std::optional<run::CellRunner> runner_;
  std::optional<ledger::Anonymizer> anonymizer_;
  nlohmann::ordered_json environment_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::vector<std::string> differences_;
};

}  // namespace feedrate::session
