#pragma once
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/emulated_device.h"
#include "judge/gpu_search.h"
#include "measure/statistics.h"
#include "plan/settings.h"
#include "run/cell_result.h"
#include "run/window.h"
#include "session/experiment_options.h"
#include "session/run_caveats.h"
#include "session/watcher.h"

namespace feedrate::session {

// Accelerator utilisation (AU): the share of the window in which the GPUs compute, averaging
// gradients left out of both. MLPerf Storage asks for the first of ResNet-50, and takes it over a
// whole run but for the first step's reading.
inline constexpr double kLeastUtilisation = 0.90, kBetterUtilisation = 0.95;

// In the output folder: what was fed from memory, and the search over reads in flight.
inline constexpr const char* kClientFolder = "client";
inline constexpr const char* kReadsFolder = "reads-in-flight";

// The answer's rates are corrected for what the flag of this name says, see run::sustained_rate().
inline constexpr std::string_view kCorrectedFlag = "queue_not_at_rest";

std::string counted_gpus(int gpus);  // "1 GPU", "2 GPUs"

// What was read in one run, or the medians of several.
struct Reading {
  double imgs_per_s = 0, bytes_per_s = 0, reads_per_s = 0;
  std::optional<double> p99_ms{};           // none: too many reads were seen late
  std::optional<measure::Interval> ci95{};  // of imgs_per_s, from the steps of one run
  double cpus_busy = 0;                     // see session/run_evidence.h
  double read_share = 0;         // of the loaders' time, opening files counted; 0: unknown
  bool from_page_cache = false;  // it was asked for (warm), or counters say so: 90 % of the bytes
};
// Of a run that has a measurement.
Reading reading_of(const run::CellResult& result);
// Of at least one, each figure by itself; the p99 is that of the runs that know theirs.
Reading median_of(const std::vector<Reading>& runs);
using Readings = std::map<int, std::vector<Reading>>;  // of each run, by the number of GPUs

// Of all runs, of which there is one: they say nothing of the storage.
bool are_from_page_cache(const Readings& readings);

// The runs of the largest median images/s, of readings by what their runs differ in; none where
// there are no readings.
template <class Key>
std::vector<Reading> fastest_runs(const std::map<Key, std::vector<Reading>>& readings) {
  const auto fastest = std::ranges::max_element(
      readings, {}, [](const auto& one) { return median_of(one.second).imgs_per_s; });
  return fastest == readings.end() ? std::vector<Reading>{} : fastest->second;
}
// That median; 0 where there are no readings.
template <class Key>
double most_imgs_per_s(const std::map<Key, std::vector<Reading>>& readings) {
  return readings.empty() ? 0 : median_of(fastest_runs(readings)).imgs_per_s;
}

// The mean images/s of at least one run, and its 95 % interval: a t-interval on their logarithms,
// from kLeastRepetitions runs on; of fewer the one that holds those of each run's steps.
measure::Estimate rate_of(const std::vector<Reading>& runs);

// What is searched with: cells that differ in the number of their GPUs alone.
struct SearchedCell {
  plan::Cell cell;  // with one GPU
  plan::CellSettings settings;
  device::EmulatedDevice device;       // what is emulated
  double step_s = 0, host_cpu_ms = 0;  // of a step
};
// Throws a UsageError where the cell has no emulated rate, or does not read stored data.
SearchedCell searched_cell(const plan::Cell& cell);

// The fewest steps that make a rate: fewer are flagged, seriously (`short_window`).
inline constexpr int kFewestSteps = 10;
// Steps that a run of a search should have: an interval takes 20 of them.
inline constexpr double kWantedSteps = 22;
// Beyond the shortest window, for queues that come to rest late.
inline constexpr double kMoreSeconds = 1;

// How a search goes.
struct SearchOptions {
  int most_gpus = 64;
  int repetitions = 3;  // on both sides of each answer, and from memory
  // So long may a window last that slow steps make longer than the limits say; 0: no longer.
  double slow_window_s = 60;
  // That one GPU's loader was seen to get out of the storage; 0: not known.
  double imgs_per_s = 0;
};

// Seconds: the longest window of a run whose steps are expected to take `step_s`, so that it has
// kWantedSteps; infinity: nobody knows.
double longest_window_s(const run::RunLimits& limits, double step_s, const SearchOptions& options);
// Seconds: how long a step of all GPUs, of so many `images`, is expected to take of a loading that
// gives them `imgs_per_s`, and at least of the device; infinity where the rate is not known: 0.
double expected_step_s(int images, double imgs_per_s, double least_step_s);

// Of runs of a device whose steps have no length: a few seconds each, and no more steps than a rate
// takes.
run::RunLimits short_limits(run::RunLimits limits);

// What Ledger refuses as well, with the remedy of a sweep: a search cannot be resumed. Throws an
// Error where the folder holds a ledger of a search; nothing where it is empty.
void refuse_old_results(const std::filesystem::path& output);

// What more of a cold pass takes.
inline constexpr const char* kLongerPass =
    "use more pictures, --io uring-direct, which reads past the page cache, or --page-cache warm";
// A cold run is one pass over the data, which has to last. Throws an Error where it does not with
// so many GPUs.
void check_cold_pass(const SearchedCell& searched, std::size_t samples, int gpus,
                     const run::RunLimits& limits);

// A step burns so much of its time on the host's CPU that a search without that tells more.
bool burns_much(const SearchedCell& searched);

// What the searches found.
struct Found {
  judge::GpuSearch search;
  std::optional<judge::GpuSearch> without_cpu;  // of the host; none where steps burn little of it
  double bytes_per_sample = 0;
  Readings readings{};
  RunCaveats seen{};
  std::string limit{};  // why more GPUs were not tried
  int interrupted = 0;  // the exit code, where a signal came; what was measured until then is here
};

// Searches in one sweep, live. Throws the Error of a run that failed, one line that names what
// failed, such as storage that stalls.
Found search_gpus(const SearchedCell& searched, const ExperimentOptions& experiment,
                  const SearchOptions& options, Watcher& watcher);

// What this machine manages without the storage.
struct ClientLimit {
  std::vector<Reading> runs{};  // each repetition
  std::size_t samples = 0;      // that were read again and again
  RunCaveats seen;
  int interrupted = 0;  // the exit code, where a signal came: nothing else is known then
};

// What this machine reads, decodes and takes to as many GPUs as were tried at most from memory,
// with the same workers and depth, as often as there are repetitions. Steps have no length, and
// burn the CPU time on the host that they do in the search. Nothing where that cannot be measured,
// of which the watcher is told.
std::optional<ClientLimit> client_limit(const SearchedCell& searched,
                                        const ExperimentOptions& experiment, const Found& found,
                                        const SearchOptions& options, Watcher& watcher);

// What ends the images/s: the storage where this machine manages 1.1 times as much from memory,
// this machine where the two are closer than that; not clear where their intervals allow both, or
// memory gave less, which contradicts what the storage gave.
enum class Limit { storage, machine, not_clear };
Limit limit_beyond(const measure::Estimate& from_storage, const measure::Estimate& from_memory);

// images/s of an H200 as this program trains it, at the searched cell's input size; nothing where
// that rate is not among the published ones.
inline constexpr std::string_view kOwnH200 = "h200-feedrate";
std::optional<double> own_h200_rate(const SearchedCell& searched);

}  // namespace feedrate::session
