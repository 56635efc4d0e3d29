#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "plan/cell.h"
#include "plan/settings.h"
#include "run/cell_ranks.h"
#include "run/cell_result.h"
#include "run/datasets.h"
#include "run/qualifier.h"
#include "run/run_options.h"

namespace feedrate::run {

// Runs cells one after the other, and keeps what several of them need: settings and the opened
// datasets. Not thread-safe. `registry`, and `processes` where cells run in processes of their own,
// outlive it.
class CellRunner {
 public:
  CellRunner(RunOptions options, device::AcceleratorRegistry& registry);  // ranks are threads
  // `listing` is told while a folder of the user's own pictures is listed, `note` what the user
  // should know of it. `qualifier`: may be shared with other runners.
  CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
             ranks::RankProcesses& processes, storage::ListProgress listing = {},
             storage::ListNote note = {},
             std::shared_ptr<Qualifier> qualifier = std::make_shared<Qualifier>());
  // The same, with datasets that are open already.
  CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
             ranks::RankProcesses& processes, Datasets datasets,
             std::shared_ptr<Qualifier> qualifier = std::make_shared<Qualifier>());

  // Everything that can be refused before anything is measured. Throws an Error naming the thing
  // and the remedy, or an UnreadableDataset, with which run() then fails as well. Returns the bytes
  // of host memory that the cell will hold on this machine.
  double check(const plan::Cell& cell);

  // The part of check() that needs no dataset. Throws an Error.
  void check_device(const plan::Cell& cell);

  // What a cell reads, opened under the same watch as by check(); null for synthetic ones. Throws
  // an Error, or, for storage that does not answer, a std::runtime_error of one line.
  std::shared_ptr<const storage::DatasetVariant> dataset_of(const plan::Cell& cell);

  // The hash of a variant's manifest; nothing for one that no checked or measured cell uses.
  std::optional<std::string> manifest_of(const std::string& variant) const;

  // Those that are open; for another runner.
  const Datasets& datasets() const { return datasets_; }

  // Measures; a failure of the run itself is in the result, not thrown. `how`: of this run, where
  // it is not the options'.
  struct How {
    std::optional<std::uint64_t> seed{};
    std::optional<double> max_seconds{};  // of RunLimits
    std::filesystem::path trace{};
    bool in_pairs = false;  // with its ceiling, see run/pairs.h
    std::string team{};     // see RunOptions
  };
  CellResult run(const plan::Cell& cell, const ProgressSink& progress, std::stop_token stop,
                 const How& how);
  CellResult run(const plan::Cell& cell, const ProgressSink& progress, std::stop_token stop) {
    return run(cell, progress, std::move(stop), How{});
  }

  // The same, cut into blocks; it ends after `most_seconds`, even if blocks are left.
  CellResult run_blocks(const plan::Cell& cell, const BlockPlan& blocks, double most_seconds,
                        const ProgressSink& progress, std::stop_token stop, std::uint64_t seed);

 private:
  CellResult run_with(RunOptions options, const plan::Cell& cell, const ProgressSink& progress,
                      std::stop_token stop);
  const plan::CellSettings& settings_for(const plan::Cell& cell);

  const RunOptions options_;
  device::AcceleratorRegistry& registry_;
  const std::unique_ptr<CellRanks> ranks_;
  Datasets datasets_;
  bool trains_ = false;                                 // whether a checked cell trains a network
  std::map<std::string, plan::CellSettings> settings_;  // by cell_id
  const std::shared_ptr<Qualifier> qualifier_;
};

}  // namespace feedrate::run
