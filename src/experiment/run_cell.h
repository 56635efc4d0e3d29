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
  std::shared_ptr<const BadSamples> bad;          // null unless bad samples were to be skipped
  double page_cache_before = -1;    // share of the dataset in the page cache, -1 unknown
  double page_cache_after = -1;
};

// Runs cells one after the other, and keeps what several of them need: the opened datasets.
// Not thread-safe.
class CellRunner {
 public:
  CellRunner(RunOptions options, AcceleratorRegistry& registry);

  // Everything that can be refused before anything is measured: devices, counts, datasets, memory.
  // Throws an Error naming the thing and the remedy.
  void check(const Cell& cell);

  // Bytes of host memory that a checked cell will hold: slabs and caches; 0 for synthetic ones.
  double memory_needed(const Cell& cell);

  // The manifest's hash of a variant that a checked or measured cell uses; nothing for any other.
  std::optional<std::string> manifest_of(const std::string& variant) const;

  // Measures; a failure of the run itself is in the result, not thrown.
  CellResult run(const Cell& cell, const ProgressSink& progress, std::stop_token stop);

 private:
  std::shared_ptr<const DatasetVariant> dataset_of(const CellSettings& settings);
  std::shared_ptr<const SampleRecipe> recipe_of(const CellSettings& settings, std::stop_token stop);
  void prepare_page_cache(const CellSettings& settings, CellResult& result, std::stop_token stop);
  std::vector<RankResult> run_ranks(const RankTask& task, std::stop_token stop);

  RunOptions options_;
  AcceleratorRegistry& registry_;
  std::map<std::string, std::shared_ptr<const DatasetVariant>> datasets_;
};

}  // namespace feedrate
