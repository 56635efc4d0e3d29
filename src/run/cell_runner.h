#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "plan/cell.h"
#include "plan/settings.h"
#include "run/cell_ranks.h"
#include "run/datasets.h"
#include "run/measurement.h"
#include "run/qualification.h"
#include "run/run_options.h"

namespace feedrate::run {

enum class Status { ok, failed, interrupted };
std::string_view name_of(Status status);

// What one run of one cell gave. Constant once made.
struct CellResult {
  plan::Cell cell;
  plan::CellSettings settings;                             // with what `auto` stood for
  std::shared_ptr<const device::Qualification> qualified;  // where that was found out
  Status status = Status::failed;
  std::string error;                                       // one line; empty unless failed
  std::string started_at;                                  // UTC, ISO 8601
  std::shared_ptr<const storage::DatasetVariant> dataset;  // null for synthetic
  std::optional<Measurement> measurement;                  // of a run that ended well
  std::map<std::size_t, RankMeasurement> kept_ranks;       // else, of ranks whose results arrived
};

// Who hears of a device that is tried out before a cell runs on it: a line of what is wrong with
// what was kept, each event, and what was found.
struct QualifyHooks {
  std::function<void(const std::string&)> note;
  QualifySink told;
  std::function<void(const plan::CellSettings&, const device::Qualification&)> found;
};

// Runs cells one after the other, and keeps what several of them need: settings and the opened
// datasets. Not thread-safe. `registry`, and `processes` where cells run in processes of their own,
// outlive it.
class CellRunner {
 public:
  CellRunner(RunOptions options, device::AcceleratorRegistry& registry);  // ranks are threads
  // `listing` is told while a folder of the user's own pictures is listed, `note` what the user
  // should know of it.
  CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
             ranks::RankProcesses& processes, storage::ListProgress listing = {},
             storage::ListNote note = {});
  // The same, with datasets that are open already.
  CellRunner(RunOptions options, device::AcceleratorRegistry& registry,
             ranks::RankProcesses& processes, Datasets datasets);

  // Without them, nobody hears.
  void tell_qualifying(QualifyHooks hooks) { qualify_hooks_ = std::move(hooks); }

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

  // Measures; a failure of the run itself is in the result, not thrown. `seed`, `trace`: of this
  // run, where they are not the options'.
  CellResult run(const plan::Cell& cell, const ProgressSink& progress, std::stop_token stop,
                 std::optional<std::uint64_t> seed = {}, const std::filesystem::path& trace = {});

  // The same, cut into blocks; it ends after `most_seconds`, even if blocks are left.
  CellResult run_blocks(const plan::Cell& cell, const BlockPlan& blocks, double most_seconds,
                        const ProgressSink& progress, std::stop_token stop, std::uint64_t seed);

 private:
  CellResult run_with(const RunOptions& options, const plan::Cell& cell,
                      const ProgressSink& progress, std::stop_token stop);
  const plan::CellSettings& settings_for(const plan::Cell& cell);
  // False: stopped.
  bool qualify(const RunOptions& options, CellResult& result, const std::stop_token& stop);
  std::string largest_batch(const RunOptions& options, const CellResult& result,
                            const std::stop_token& stop);

  const RunOptions options_;
  device::AcceleratorRegistry& registry_;
  const std::unique_ptr<CellRanks> ranks_;
  Datasets datasets_;
  std::map<std::string, plan::CellSettings> settings_;  // by cell_id
  QualifyHooks qualify_hooks_;
  std::map<std::string, std::shared_ptr<const device::Qualification>> qualified_;  // by what for
};

}  // namespace feedrate::run
