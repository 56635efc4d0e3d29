#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "experiment/rank.h"
#include "pipeline/bad_samples.h"
#include "pipeline/planted.h"
#include "storage/dataset.h"

namespace feedrate {

class RankProcesses;

// What every cell of a run or sweep shares.
struct RunOptions {
  std::filesystem::path data;  // the dataset's folder; may be empty if every cell is synthetic
  RunLimits limits;
  std::uint64_t seed = 0;
  PlantedTimes planted{};      // zero but in tests of the measurement itself
  bool plant = false;
};

enum class Status { ok, failed, interrupted, invalid };
std::string_view name_of(Status status);

// What one run of one cell gave.
struct CellResult {
  Cell cell;
  Status status = Status::failed;
  std::string error;                // one line; empty unless failed or invalid
  std::vector<RankResult> ranks;    // empty unless ok
  std::string started_at;           // UTC, ISO 8601
  std::shared_ptr<const DatasetVariant> dataset;  // null for synthetic
  BadTotals bad;                    // samples that were skipped
  double page_cache_before = -1;    // share of the dataset in the page cache, -1 unknown
  double page_cache_after = -1;
};

// Runs cells one after the other, and keeps what several of them need: the opened datasets.
// Not thread-safe.
class CellRunner {
 public:
  // `processes`: each cell is run in processes of its own, that end with it: what goes wrong in one, a crash or a read that
  // never returns, spares this process and the next cell. Null: cells run here, in threads.
  CellRunner(RunOptions options, AcceleratorRegistry& registry, RankProcesses* processes = nullptr);

  // Everything that can be refused before anything is measured: devices, counts, datasets, memory.
  // Throws an Error naming the thing and the remedy.
  void check(const Cell& cell);

  // Bytes of host memory that a checked cell will hold: slabs and caches; 0 for synthetic ones.
  double memory_needed(const Cell& cell);

  // The manifest's hash of a variant that a checked or measured cell uses; nothing for any other.
  std::optional<std::string> manifest_of(const std::string& variant) const;

  // Measures; a failure of the run itself is in the result, not thrown.
  CellResult run(const Cell& cell, const ProgressSink& progress, std::stop_token stop);

  // One rank of a run, or all of them as threads where `group` has but one: for a process that is there for that.
  // `first_here`: of those on this machine; it sees to the page cache. `manifest`: of the dataset that the others have.
  // `reads`: is told what is read, of dataset_for(cell). Throws what went wrong.
  RankAnswer run_as_rank(const Cell& cell, Group& group, bool first_here, const std::string& manifest, std::shared_ptr<OutstandingReads> reads,
                         const ProgressSink& progress, std::stop_token stop);
  // Null for synthetic data.
  std::shared_ptr<const DatasetVariant> dataset_for(const Cell& cell) { return dataset_of(settings_of(cell)); }

 private:
  std::shared_ptr<const DatasetVariant> dataset_of(const CellSettings& settings);
  std::shared_ptr<const SampleRecipe> recipe_of(const CellSettings& settings, std::shared_ptr<OutstandingReads> reads, std::stop_token stop);
  RankTask task_of(const CellSettings& settings, std::shared_ptr<OutstandingReads> reads, const ProgressSink& progress, std::stop_token stop);
  bool ranks_are_apart(const CellSettings& settings) const;   // each in a process of its own
  CellSettings of_this_machine(CellSettings settings) const;  // with the GPUs that are here
  RankAnswer run_threads(const CellSettings& settings, const ProgressSink& progress, std::stop_token stop);
  std::optional<RankAnswer> run_processes(const Cell& cell, const CellSettings& settings, const ProgressSink& progress, std::stop_token stop);

  RunOptions options_;
  AcceleratorRegistry& registry_;
  RankProcesses* const processes_;
  std::map<std::string, std::shared_ptr<const DatasetVariant>> datasets_;
};

}  // namespace feedrate
