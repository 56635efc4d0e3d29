#pragma once
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "device/accelerator.h"
#include "device/registry.h"
#include "measure/control_group.h"
#include "measure/gpu_monitor.h"
#include "measure/host_monitor.h"
#include "measure/memory.h"
#include "measure/standstill.h"
#include "measure/storage_counters.h"
#include "measure/trace.h"
#include "pipeline/bad_samples.h"
#include "pipeline/loader.h"
#include "pipeline/noted_samples.h"
#include "run/kept_device.h"
#include "run/page_cache_state.h"
#include "run/rank_task.h"

namespace feedrate::run {

// Where a rank ran.
struct RankPlace {
  std::string host;
  int pid = 0;
  std::vector<int> cpus;  // that its process may use
  measure::CpuQuota quota;
};

// What one rank measured. Times of the steps are on now_ns()'s clock.
struct RankResult {
  std::vector<device::StepRecord> steps;  // all, warm-up included
  std::vector<double> data_wait_ms;       // per step: the training thread waited for its batch
  std::size_t first = 0, last = 0;        // the window: steps[first, last)
  bool steady = false;
  double drawn_from_queue = 0;                   // of this rank, see QueueBalance
  measure::StageTotals stages;                   // of the window, all workers
  storage::ReadLatencies latencies;              // of the window, all workers
  device::Arrivals arrivals;                     // of the window
  measure::HostUse host;                         // of the window
  measure::Standstills standstills;              // of the window
  std::vector<measure::HostSample> host_series;  // of the window, once a second; rank 0's alone
  // What was read below the files in the window; rank 0's alone.
  std::vector<measure::StorageCounter> storage_counters;
  std::vector<BlockSpan> blocks;  // that were measured, of RunOptions::blocks
  // Of a run in pairs, `blocks` holds the whole pairs; the window is from the first block's
  // beginning to the last one's end, and what is counted is of the cell's blocks alone.
  bool in_pairs = false;
  double pairs_took_s = 0;  // from when the first of them began to settle; of rank 0
  std::int64_t samples_ahead_limit = 0;
  std::string loader_library;       // see Loader::library()
  int opencv_threads = 0;           // in each loader thread
  measure::ProcessSize process;     // at the window's end, the whole process
  std::int64_t first_batch_ns = 0;  // it had its first batch, on now_ns()'s clock; 0: no loader
  device::DeviceDescription device;
  RankPlace place;
  std::vector<measure::GpuSample> gpu;  // of the window, twice a second
  std::string gpu_problem;              // why there are none, for a GPU
  // Ended by the stop token. If its window had begun, its steps so far are there, else none.
  bool interrupted = false;
  // Where RunOptions::trace asks for one. Stays in the process: it is far larger than the rest.
  std::shared_ptr<const measure::Trace> trace{};
};

// How the writing of a run's trace went.
struct TraceOutcome {
  std::int64_t left_out = 0;  // events that its rows had no room for
  std::string problem;        // one line; empty: it is written, or none was asked for
};

// What a process that is a rank, or holds all of them, answers.
struct RankAnswer {
  std::vector<RankResult> ranks;
  pipeline::BadTotals bad;  // samples that were skipped; empty unless --on-bad is skip
  // Pictures that hold some, of those that were decoded.
  pipeline::NotedTotals stray_bytes{};
  PageCache page_cache;      // of the process that prepared it
  bool interrupted = false;  // before the end: `ranks` are those that had begun to measure
  TraceOutcome trace{};
};

// Runs one rank to its end on the calling thread, on the device that `kept` has for it, or else on
// a new one. All ranks end with the same window.
RankResult run_rank(const RankTask& task, device::Group& group, std::stop_token stop,
                    KeptDevice& kept);

}  // namespace feedrate::run
