#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/paired_share.h"
#include "measure/statistics.h"
#include "plan/settings.h"
#include "run/rank.h"

namespace feedrate::run {

// A time for each step of the window, in milliseconds, rounded to a microsecond, which is finer
// than their accuracy; the summary as well.
struct StepSeries {
  measure::Summary summary;
  std::vector<double> values;
};

// What one rank measured in its window.
struct RankMeasurement {
  double imgs_per_s = 0;
  double window_s = 0;
  double data_wait_ms = 0;  // mean of a step: the training thread waited for its batch
  double sync_ms = 0;       // mean of a step: it waited for other ranks or their gradients
  RankPlace place;          // empty for threads of the program itself
  std::vector<measure::GpuSample> gpu;  // twice a second, from the window's start (at_ns 0)
  std::string gpu_problem;              // why there are none, for a GPU
};

// The rank that the others wait for: the one that waits least.
struct Straggler {
  std::size_t rank = 0;
  double others_wait_ms = 0;  // a step, longer than this rank: half of them or more
};

// What happened on one machine during the window.
struct MachineUse {
  std::string host;  // empty: the program's own, its ranks are threads
  measure::HostUse use;
};

// How fast a device is while it works: images / the time of the steps without their waiting, of all
// ranks. At the ceiling this is nearly the throughput.
struct DeviceRate {
  double imgs_per_s = 0;
  std::optional<measure::Interval> ci95;  // from the steps of this run
};

// A cell's block and its ceiling's, one after the other, of all ranks.
struct MeasuredPair {
  std::int64_t cell_steps = 0, ceiling_steps = 0;
  double cell_s = 0, ceiling_s = 0;
  double cell_busy_s = 0, ceiling_busy_s = 0;  // of these, the device worked
  bool ceiling_first = false;
  bool ceiling_disturbed = false;  // rank 0's workers had not stood still when it began
};

// A run in pairs, see run/pairs.h.
struct MeasuredPairs {
  std::vector<MeasuredPair> pairs;  // at least one
  double took_s = 0;  // from when the first block began to settle to the end of the last one
  double ceiling_imgs_per_s = 0;
  DeviceRate ceiling_device;
  measure::PairedShare share;
};

// How fast the device is in the cell's steps, as a share of how fast it is in the ceiling's, the
// waiting left out: 1 / how much longer a step takes. Nothing where a block's steps take no time.
std::optional<measure::PairedShare> device_share_of(std::span<const MeasuredPair> pairs);

// What --on-bad skip left out, of all ranks, warm-up included.
struct SkippedSamples {
  std::int64_t count = 0;     // how often; a sample that is drawn again counts again
  std::int64_t pictures = 0;  // different ones that are bad. 0 although some were skipped: unknown
  std::int64_t drawn = 0;     // different ones that were drawn
  std::int64_t of = 0;        // in the dataset
  std::vector<std::string> named;  // the errors of up to 20 of them, in the dataset's order
};

// What a run of a cell measured, computed once; verdict, flags, terminal and ledger read it. The
// window is rank 0's unless it says otherwise; docs/columns.md explains each figure. Of a run in
// pairs, "the window" means the cell's blocks, one after the other.
struct Measurement {
  double imgs_per_s = 0;  // images / wall time of the window, of all ranks
  std::optional<MeasuredPairs> pairs;
  // Of it, from the steps of this run, and wider by what was drawn from the queue.
  std::optional<measure::Interval> ci95;
  std::int64_t steps = 0, images = 0;  // images: of all ranks
  double window_s = 0;                 // of all ranks: from the last to begin to the last to end
  std::int64_t window_start_ns = 0;    // on the program's clock, now_ns()
  std::int64_t first_batch_ns = 0;     // the last rank had its first batch, on that clock; 0: none
  std::int64_t warmup_steps = 0;
  double warmup_s = 0;
  bool steady = false;    // the warm-up ended because the steps were steady
  bool changing = false;  // the steps changed within the window
  StepSeries step_ms, data_wait_ms, device_idle_ms;
  double device_idle_fraction = 0;  // of the window
  DeviceRate device_rate;
  measure::StageTotals stages;       // of all workers and ranks
  storage::ReadLatencies latencies;  // of all workers and ranks
  device::Arrivals arrivals;         // of all ranks; zero where nothing is copied
  std::int64_t queue_capacity = 0;   // samples
  // Of the rank whose queue was least at rest, share of its window's images; see QueueBalance.
  double drawn_from_queue = 0;
  std::size_t drawn_rank = 0;
  double drawn_mean = 0;             // of all ranks
  int cpus = 0;                      // that the ranks may use, all machines together
  double cpu_capacity = 0;           // the same, or less where a control group's quota binds
  int opencv_threads = 0;            // in each loader thread
  measure::ProcessSize process;      // of rank 0, at the window's end
  std::string loader_library;        // see Loader::library()
  SkippedSamples bad;                // zeros unless --on-bad is skip
  double loss_last = 0;              // NaN where the device has none
  PageCache page_cache;              // of all machines, see merge_page_caches()
  std::vector<MachineUse> machines;  // rank 0's first
  // Rank 0's machine once a second, from the window's start (at_ns 0).
  std::vector<measure::HostSample> host_series;
  measure::Standstills standstills;  // of the rank that stood still longest
  std::size_t standstill_rank = 0;
  double storage_read_bytes = -1;  // by all processes of the ranks; -1: unknown
  // By every program that reads there: below the files, on rank 0's machine.
  std::vector<measure::StorageCounter> storage_counters;
  // Of these, by programs that are not the run, see read_by_others(). -1: unknown, as with several
  // machines.
  double storage_other_read_bytes = -1;
  device::DeviceDescription device;
  std::vector<RankMeasurement> ranks;
  std::optional<Straggler> straggler;
  // Different pictures with stray bytes (codec::StrayBytes) that were decoded, of all ranks,
  // warm-up included; none: nothing was decoded, or by what does not tell.
  std::optional<std::int64_t> stray_pictures;
  std::vector<BlockResult> blocks;  // of a run that was cut into blocks
  TraceOutcome trace;               // for the terminal; no part of the record
};

// The rate that can be kept up: what came out of the queues' stock in the window was not loaded in
// it. images/s.
double sustained_rate(const Measurement& measurement);
double sustained_rate(double imgs_per_s, double drawn_mean);

// The others wait for a rank by at least this share of a step: it is the straggler.
inline constexpr double kStraggles = 0.05;

// Seconds in which all of it was measured: of the window, or of all pairs.
double measured_s(const Measurement& measurement);

// Of ranks that ended well, at least one.
Measurement measurement_of(const plan::CellSettings& settings, const RankAnswer& answer);

// Of one rank that ended well.
RankMeasurement measurement_of(const plan::CellSettings& settings, const RankResult& rank);

// Three decimals: a microsecond of a time in milliseconds.
double rounded(double value);

}  // namespace feedrate::run
