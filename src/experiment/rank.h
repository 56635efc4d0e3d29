#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "device/accelerator.h"
#include "experiment/cell.h"
#include "experiment/window.h"
#include "measure/gpu_monitor.h"
#include "measure/host_monitor.h"
#include "measure/memory.h"
#include "pipeline/bad_samples.h"
#include "pipeline/loader.h"

namespace feedrate {

// What is seen of a run while it goes on.
struct RunProgress {
  Phase phase = Phase::warming;
  std::size_t steps = 0;      // of the window so far (warm-up: of its last half)
  double imgs_per_s = 0;      // of all ranks, over the window so far (warm-up: over the last steps)
  double device_idle = 0;     // share of the time in which the device waited for a batch
  double elapsed_s = 0;       // of the same steps
  double remaining_s = 0;     // estimate of the window's rest; < 0: unknown
};
using ProgressSink = std::function<void(const RunProgress&)>;

// What one rank has to do.
struct RankTask {
  CellSettings settings;
  RunLimits limits;
  const AcceleratorKind* kind = nullptr;
  std::uint64_t seed = 0;
  std::string device_argument;                      // what follows the device's colon
  std::shared_ptr<const SampleRecipe> recipe;       // null: synthetic
  ProgressSink progress;                            // rank 0 only; may be empty
};

// Where a rank ran.
struct RankPlace {
  std::string host;
  int pid = 0;
  std::vector<int> cpus;  // that its process may use
};

// What one rank measured. Times of the steps are on now_ns()'s clock.
struct RankResult {
  std::vector<StepRecord> steps;      // all, warm-up included
  std::vector<double> data_wait_ms;   // per step: the training thread waited for its batch
  std::size_t first = 0, last = 0;    // the window: steps[first, last)
  bool steady = false;
  double drawn_from_queue = 0;
  StageTotals stages;                 // of the window, all workers
  Arrivals arrivals;                  // of the window
  HostUse host;                       // of the window
  std::vector<HostSample> host_series;  // of the window, once a second; rank 0's alone
  std::int64_t samples_ahead_limit = 0;
  std::string loader_library;         // see Loader::library()
  ProcessSize process;                // at the window's end, the whole process
  DeviceDescription device;
  RankPlace place;
  std::vector<GpuSample> gpu;         // of the window, once a second
  std::string gpu_problem;            // why there are none, for a GPU
  bool interrupted = false;           // ended by the stop token: nothing else is valid
};

// What a process that is a rank, or holds all of them, answers.
struct RankAnswer {
  std::vector<RankResult> ranks;
  BadTotals bad;                    // samples that were skipped
  double page_cache_before = -1;    // of who saw to it, see CellResult
  double page_cache_after = -1;
};

// Runs one rank to its end on the calling thread. All ranks end with the same window.
RankResult run_rank(const RankTask& task, Group& group, std::stop_token stop);

}  // namespace feedrate
