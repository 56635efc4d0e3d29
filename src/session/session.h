#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
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
#include "session/watcher.h"

namespace feedrate::session {

// What every experiment has: Ctrl-C, ranks, devices and what was found out of them, datasets, flags
// and verdicts, a ledger (or none) with its environment, without names if that is asked for, and
// whoever watches. For rank 0's process, or one that no launcher has started.
class Session {
 public:
  // `cells`: what is measured; the same in every rank's process. `options`, `watcher` outlive it.
  Session(const ExperimentOptions& options, const std::vector<plan::Cell>& cells,
          const std::optional<ranks::Launch>& launch, Watcher& watcher);

  // Whether all ranks are there; not if a signal came while they were waited for.
  bool ready() const { return ranks_ != nullptr; }
  // Whether a launcher has started its ranks. Of one that is ready().
  bool is_launched() const { return ranks_->size() != 0; }
  const ExperimentOptions& options() const { return options_; }
  Watcher& watcher() const { return watcher_; }
  std::stop_token token() const { return signals_.token(); }
  bool is_stopped() const { return token().stop_requested(); }
  // 128 + signal if one came, else `otherwise`.
  int exit_code(int otherwise) const { return signals_.exit_code(otherwise); }
  device::AcceleratorRegistry& registry() { return registry_; }

  // For cells that read the dataset in this folder, by default the options' own; made when it is
  // first asked for.
  run::CellRunner& runner(const std::filesystem::path& data);
  run::CellRunner& runner() { return runner(options_.run.data); }
  // Another one, with the datasets that runner(options.data) has opened.
  std::unique_ptr<run::CellRunner> another_runner(const run::RunOptions& options);

  // What a cell reads. Throws an Error.
  std::shared_ptr<const storage::DatasetVariant> dataset_of(const plan::Cell& cell);

  // Refuses what cannot be measured. Throws an Error or an UnreadableDataset.
  void check(const std::vector<plan::PlannedRun>& plan);

  // The same for a sweep, which goes on without what it cannot read: says of each such dataset, in
  // one line, why, and that its cells are going to fail. Returns how many cells these are. Throws
  // as check() does where no dataset can be read.
  std::size_t check_but_go_on(const std::vector<plan::PlannedRun>& plan);

  // Opens the folder's ledger and writes axes.json beside it. Without a folder nothing is kept. The
  // environment is looked at now: datasets that are measured were opened before, and so their
  // storage answers. `resume`: adds to a ledger that holds records; `force`: even where those of
  // the plan were measured otherwise; no value: the command has no such option. Throws an Error.
  void open_ledger(const std::vector<plan::PlannedRun>& plan, bool resume,
                   std::optional<bool> force = {});
  const ledger::Ledger* ledger() const { return ledger_.get(); }
  // How what is measured now differs from the ledger's records, see resume.h.
  const std::vector<std::string>& differences() const { return differences_; }

  // What was typed behind the program's name, as the records have it. After open_ledger().
  std::vector<std::string> command() const;

  // The runs of the plan that the ledger lacks.
  std::vector<plan::PlannedRun> missing(const std::vector<plan::PlannedRun>& plan) const;

  // What a run gave and what is said of it; and the same as it was written.
  struct Recorded {
    ledger::Record record;
    nlohmann::ordered_json json;
  };
  // Adds a run to the ledger. `options`: the run's.
  Recorded record_run(run::CellResult result, ledger::RunContext context,
                      const run::RunOptions& options);
  // After the last one. `is_whole`: every planned run was carried out.
  void end_ledger(bool is_whole) const;

  // A line for a file of the ledger's folder: without names, if the ledger is to have none.
  std::string cleaned(const std::string& line);

 private:
  using CellsByError = std::map<std::string, std::set<std::string>>;  // their ids, by the line
  // A dataset, and what all records of its cells have in common.
  struct Source {
    std::optional<run::CellRunner> runner;
    std::optional<ledger::Anonymizer> anonymizer;
    nlohmann::ordered_json environment;
  };

  void check_devices(const std::vector<plan::PlannedRun>& plan);
  std::size_t say_unreadable(const CellsByError& cells) const;

  const ExperimentOptions& options_;
  Watcher& watcher_;
  const SignalWatcher signals_;  // before any other thread
  const std::unique_ptr<ranks::RankProcesses> ranks_;
  device::AcceleratorRegistry registry_;
  const std::shared_ptr<run::Qualifier> qualifier_;  // for all runs
  std::map<std::filesystem::path, Source> sources_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::vector<std::string> differences_;
};

}  // namespace feedrate::session
