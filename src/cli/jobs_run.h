#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "device/registry.h"
#include "plan/cell.h"
#include "ranks/rank_processes.h"
#include "record/ledger.h"
#include "record/record.h"
#include "run/cell_runner.h"
#include "run/together.h"

namespace feedrate::cli {

// One training, as it was asked for.
struct PlannedJob {
  plan::Cell cell;
  std::filesystem::path data;
  std::size_t first = 0;  // the first job with the same cell and dataset; may be itself
  int copy = 1;           // its number among those, from 1
  std::string name;       // "job 2 (png 500x375, 8 workers, ..., batch 64, emulated:v100)"

  bool is_first() const { return copy == 1; }
};

// What the jobs reached; by job.
struct JobsOutcome {
  std::vector<std::optional<double>> alone, together;  // images/s; none for a job that failed
  run::Overlap overlap;
  std::vector<std::string> spoiled;  // what must not be quoted, and why
};

// Measures all jobs, first alone, then together, with lines on stderr.
class JobsRun {
 public:
  // `print_json`: prints each record as well. The others outlive it.
  JobsRun(const ExperimentOptions& experiment, const std::vector<PlannedJob>& jobs,
          bool print_json);
  ~JobsRun();

  // Refuses what cannot be measured. Throws an Error.
  void check();

  // In the experiment's output folder; without one, nothing is kept. Throws an Error.
  void open_ledger();

  JobsOutcome measure();

  bool is_stopped() const { return signals_.token().stop_requested(); }
  // 128 + signal if one came, else `otherwise`.
  int exit_code(int otherwise) const { return signals_.exit_code(otherwise); }

 private:
  class Store;
  // What a job reaches by itself.
  struct Alone {
    double imgs_per_s = 0;
    run::Beginning beginning;
    run::PageCache page_cache;
  };

  Store& store_of(const PlannedJob& job) { return *stores_.at(job.data); }
  run::CellRunner runner_of(const PlannedJob& job, const run::RunOptions& options);
  std::vector<std::optional<Alone>> measure_alone();
  std::optional<Alone> run_alone(const PlannedJob& job);
  void measure_together(const std::vector<std::optional<Alone>>& alone);
  void show(std::span<const run::RunProgress> seen, std::int64_t opens_ns);
  record::Record keep(const PlannedJob& job, run::CellResult result, const run::RunOptions& options,
                      record::JobsPart part, std::optional<run::PageCache> page_cache_alone,
                      const std::string& title);

  const ExperimentOptions& experiment_;
  const std::vector<PlannedJob>& jobs_;
  const bool print_json_;
  ProgressLine line_;
  const SignalWatcher signals_;  // before any other thread
  const std::unique_ptr<ranks::RankProcesses> ranks_;
  device::AcceleratorRegistry registry_;
  std::map<std::filesystem::path, std::unique_ptr<Store>> stores_;
  std::unique_ptr<record::Ledger> ledger_;
  int order_ = 0;
  JobsOutcome outcome_;
};

}  // namespace feedrate::cli
