#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/emulated_device.h"
#include "judge/gpu_search.h"
#include "plan/settings.h"
#include "session/experiment_options.h"
#include "session/run_caveats.h"
#include "session/watcher.h"

namespace feedrate::session {

// Accelerator utilisation; MLPerf Storage asks for the first of ResNet-50.
inline constexpr double kLeastUtilisation = 0.90, kBetterUtilisation = 0.95;

std::string counted_gpus(int gpus);  // "1 GPU", "2 GPUs"

// What was read with so many GPUs: of one run, or the mean of several.
struct Reading {
  double imgs_per_s = 0, bytes_per_s = 0, reads_per_s = 0;
  std::optional<double> p99_ms{};  // none: too many reads were seen late
};
// Of at least one; the mean p99 is that of the runs that know theirs.
Reading mean_of(const std::vector<Reading>& runs);
using Readings = std::map<int, std::vector<Reading>>;  // of each run, by the number of GPUs

// What is searched with: cells that differ in the number of their GPUs alone.
struct SearchedCell {
  plan::Cell cell;  // with one GPU
  plan::CellSettings settings;
  device::EmulatedDevice device;       // what is emulated
  double step_s = 0, host_cpu_ms = 0;  // of a step
};
// Throws a UsageError where the cell has no emulated rate, or does not read stored data.
SearchedCell searched_cell(const plan::Cell& cell);

// How a search goes.
struct SearchOptions {
  int most_gpus = 64;
  int repetitions = 3;  // on both sides of each answer
};

// What the searches found.
struct Found {
  judge::GpuSearch search;
  std::optional<judge::GpuSearch> without_cpu;  // of the host; none where a step takes none
  double bytes_per_sample = 0;
  Readings readings{};
  RunCaveats seen{};
  std::string limit{};  // why more GPUs were not tried
  int interrupted = 0;  // the exit code, where a signal came; what was measured until then is here
};

// Searches in one sweep, live. Throws the Error of a run that failed, and one where the output
// folder holds a ledger.
Found search_gpus(const SearchedCell& searched, const ExperimentOptions& experiment,
                  const SearchOptions& options, Watcher& watcher);

// What this machine manages without the storage.
struct ClientLimit {
  double imgs_per_s = 0;
  std::size_t samples = 0;  // that were read again and again
  RunCaveats seen;
  int interrupted = 0;  // the exit code, where a signal came: nothing else is known then
};

// What this machine reads, decodes and takes to `gpus` GPUs from memory. Steps have no length, and
// burn the CPU time on the host that they do in the search. Nothing where that cannot be measured,
// of which the watcher is told.
std::optional<ClientLimit> client_limit(const SearchedCell& searched,
                                        const ExperimentOptions& experiment, int gpus,
                                        Watcher& watcher);

}  // namespace feedrate::session
