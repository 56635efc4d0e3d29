#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "run/qualification.h"
#include "run/rank.h"

namespace feedrate::run {

// The work of one process on a cell: that of one rank, or of all of them as threads.
struct ProcessWork {
  const plan::CellSettings& settings;
  const RunOptions& options;
  device::AcceleratorRegistry& registry;
  const storage::DatasetVariant* dataset = nullptr;  // null: synthetic
  std::shared_ptr<storage::OutstandingReads> reads;  // is told what is read; may be null
  ProgressSink progress;
  bool prepares_files = true;  // one process of a machine does
  int ranks_here = 1;          // of all processes of this machine
};

// Prepares the files, makes the task, runs it by `run`, and looks at the files again. Interrupted
// if `stop` came first.
RankAnswer run_process(const ProcessWork& work,
                       const std::function<std::vector<RankResult>(const RankTask&)>& run,
                       std::stop_token stop);

// Carries out an order to try out a cell's device, in this process. Throws what ends it. `alive` is
// called after each trial; may be empty.
void qualify_here(const plan::CellSettings& settings, const RunOptions& options,
                  device::AcceleratorRegistry& registry, const QualifyOrder& order,
                  const QualifySink& sink, const std::function<void()>& alive = {});

// Writes the traces of a process's ranks, which have ended, to one file, and drops them. Times are
// relative to `from_ns`, on this machine's now_ns(). A run whose trace cannot be written has been
// measured all the same.
TraceOutcome write_traces(const std::filesystem::path& file, std::vector<RankResult>& ranks,
                          std::int64_t from_ns);

// Runs all ranks of a task as threads of this process. Rethrows the first failure: the others fail
// only because of it.
std::vector<RankResult> run_rank_threads(const RankTask& task, std::stop_token stop);

}  // namespace feedrate::run
