#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/emulated_device.h"
#include "judge/gpu_search.h"
#include "session/seen.h"
#include "session/session.h"

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

// What the searches found.
struct Found {
  judge::GpuSearch search;
  std::optional<judge::GpuSearch> without_cpu;  // of the host; none where a step takes none
  Readings readings;
  Seen seen;
  std::string limit;  // why more GPUs were not tried
  bool interrupted = false;
};

// One GPU's pass over the dataset.
struct ColdPass {
  double steps = 0, step_s = 0;
  int steps_ahead = 0;  // batches that its queue and its workers hold at most
};

// How a search goes.
struct SearchOptions {
  run::RunLimits limits;
  int most_gpus = 64;
  int repetitions = 3;  // on both sides of each answer
  ColdPass pass{};
  bool takes_cpu = false;  // steps take CPU of the host: it is searched without as well
};
// Searches in one sweep, live. `cell`: with one GPU. `device`: what is emulated. Interrupted, it
// returns what it had measured. Throws the Error of a run that failed.
Found search_gpus(Session& session, const plan::Cell& cell, const device::EmulatedDevice& device,
                  const SearchOptions& options);

// What this machine manages without the storage.
struct ClientLimit {
  double imgs_per_s = 0;
  std::size_t samples = 0;  // that were read again and again
  Seen seen;
  int interrupted = 0;  // the exit code, where a signal came: nothing else is known then
};
inline constexpr const char* kClientFolder = "client";  // of its record, in the output folder

// What this machine reads, decodes and takes to `gpus` GPUs from memory. Steps have no length, and
// burn the CPU time on the host that they do in the search.
// Throws a std::runtime_error of one line where that cannot be measured.
ClientLimit client_limit(const plan::Cell& cell, const ExperimentOptions& experiment, int gpus,
                         double host_cpu_ms, Watcher& watcher);

}  // namespace feedrate::session
