#pragma once
#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include "device/registry.h"
#include "plan/cell.h"
#include "plan/settings.h"
#include "ranks/rank_processes.h"
#include "run/datasets.h"
#include "run/qualification.h"
#include "run/rank.h"
#include "run/run_options.h"

namespace feedrate::run {

// Results of ranks, by rank.
using RankResults = std::map<std::size_t, RankResult>;

// Where the ranks of cells run: as threads of this process, or in processes of their own.
class CellRanks {
 public:
  virtual ~CellRanks() = default;

  // Refuses a number of ranks that cannot be. Throws a UsageError.
  virtual void check(const plan::CellSettings& settings,
                     const device::AcceleratorKind& kind) const = 0;
  // Whether each rank is a process, with caches of its own.
  virtual bool apart(const plan::CellSettings& settings) const = 0;
  // Where ranks are processes: run::probe_cell_data().
  virtual void probe_cell_data(const plan::Cell& cell, const plan::CellSettings& settings,
                               const RunOptions& options, Datasets& datasets) = 0;
  // Has the cell's device tried out, in a process that may crash where ranks are processes. False:
  // stopped. `settings`: with what is left open. Throws what has ended it.
  virtual bool qualify(const plan::Cell& cell, const plan::CellSettings& settings,
                       const RunOptions& options, const QualifyOrder& order,
                       const QualifySink& sink, std::stop_token stop) = 0;
  // How many of the cell's ranks run on this machine.
  virtual int here(const plan::CellSettings& settings) const = 0;
  // Runs them to their end, `options.seed` deciding the samples' order. Nothing if `stop` came
  // first. Throws what went wrong in the first rank that failed; `kept` then holds the results that
  // had arrived of ranks that are processes.
  virtual std::optional<RankAnswer> run(const plan::Cell& cell, const plan::CellSettings& settings,
                                        const RunOptions& options,
                                        std::shared_ptr<const storage::DatasetVariant> dataset,
                                        const ProgressSink& progress, std::stop_token stop,
                                        RankResults& kept) = 0;
};

// `registry` outlives them, `processes` too.
std::unique_ptr<CellRanks> make_thread_ranks(device::AcceleratorRegistry& registry);
// A crash in a rank, or a read that never returns, does not harm this process or the next cell.
std::unique_ptr<CellRanks> make_process_ranks(device::AcceleratorRegistry& registry,
                                              ranks::RankProcesses& processes);

}  // namespace feedrate::run
