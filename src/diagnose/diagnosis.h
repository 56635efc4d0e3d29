#pragma once
#include <optional>
#include <string>
#include <vector>

#include "diagnose/capacity.h"
#include "diagnose/ladder.h"
#include "diagnose/slopes.h"
#include "plan/settings.h"
#include "run/measurement.h"

namespace feedrate::diagnose {

// What one round measured: every rung once, in shuffled order, and the cell once more, cut into
// blocks. What a round lacks has failed or does not apply.
struct RoundEvidence {
  Round rates;
  std::vector<BlockPair> pairs;
  std::optional<measure::StageTotals> undelayed;  // of the blocks without a delay, all workers
  std::vector<Capacity> capacities;               // of the cell's rung, the one that limits first
  double step_cpu_s = 0;        // CPU time of the process that an image costs beside the loaders
  double cpus_busy = 0;         // share of the CPUs' time that loaders alone took; 0: unknown
  double all_reduce_share = 0;  // of a step: its gradients were averaged
  double open_share = 0;        // of a read: its file was opened; medians. 0: unknown, or no file
  std::string page_cache;       // see run::PageCache::state; of the cell's run
};

// What a diagnosis rests on.
struct Evidence {
  plan::CellSettings settings;
  Servers servers;
  bool serial_copies = false;  // the step waits for its copy, as on a CPU
  std::vector<RoundEvidence> rounds;

  double mean_step_cpu_s() const;  // over the rounds that know it
  double mean_cpus_busy() const;   // the same
  double mean_all_reduce_share() const;
  double mean_open_share() const;  // over the rounds that know it
  std::vector<Round> ladder() const;
  Rung own_rung() const;  // of the cell itself: cold where the cell is
};

// What one kind of evidence says for itself; empty: nothing.
struct Witness {
  std::string ladder, capacities, slopes;
  bool agree = false;  // all that say something name what the verdict names
};

// Something that the run may wait for, and how likely it is.
struct Suspect {
  std::vector<std::string> names;  // what most of its time goes into; several that are about alike
  std::string resource;
  double binds = 0;        // probability
  bool is_delayed = true;  // else it is what is left where no delay costs anything
};

// What limits the run, in the order of weight. Names: compute, normalise, copy, collate, augment,
// decode, read, storage, lock, "shared CPU", all-reduce, harness.
struct Finding {
  std::vector<std::string> names;      // one; several where they are equally slow, or not clear
  std::vector<std::string> resources;  // theirs: "workers", "CPU", "link", "device", "storage" ...
  bool clear = true;                   // false: the intervals do not tell which of the names it is
  std::optional<double> confidence;    // that the run waits for the names, and for nothing else
  std::vector<Suspect> suspects;       // all, the likeliest first
  std::string sentence;
  Witness witness;

  // Likeliest is that the run waits for nothing that is always delayed.
  bool nothing_usual_binds() const;
};

struct Diagnosis {
  std::vector<Loss> waterfall;
  std::vector<Slope> slopes;
  ServiceTimes service, cpu;  // of one sample in one worker: wall time, and CPU time
  Finding finding;
};

// `evidence` of one round at least, whose ceiling and cell were measured. What is missing (no
// slopes, rungs that failed) makes the answer less sure, not impossible.
Diagnosis diagnosis_of(const Evidence& evidence);

// Of the time in which the devices work, what averaging gradients takes. `least_sync_ms`: of the
// rank that waited for the others least; 0 of a single one.
double all_reduce_share(double least_sync_ms, double step_ms, double device_idle_fraction);

// "decode", "decode and augment", "a, b and c".
std::string joined(const std::vector<std::string>& names);

// The run reaches at least this share of its ceiling: nothing but the step limits it.
inline constexpr double kAtCeiling = 0.95;

}  // namespace feedrate::diagnose
