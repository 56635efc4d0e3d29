#pragma once
#include <optional>
#include <string>
#include <vector>

#include "judge/capacity.h"
#include "judge/ladder.h"
#include "judge/slopes.h"
#include "measure/stages.h"
#include "plan/settings.h"

namespace feedrate::judge {

// The run reaches at least this share of its ceiling: nothing but the step limits it.
inline constexpr double kAtCeiling = 0.95;
// More than that cannot be: the ceiling had a worse moment.
inline constexpr double kImpossible = 1.05;

// What one round measured: every rung once, in shuffled order, and the cell once more, cut into
// blocks. What a round lacks has failed or does not apply.
struct RoundEvidence {
  Round rates;
  std::vector<BlockPair> pairs;
  std::optional<measure::StageTotals> undelayed;  // of the blocks without a delay, all workers
  std::vector<Capacity> capacities;               // of the cell's rung, the one that limits first
  double step_cpu_s = 0;         // CPU time of the process that an image costs beside the loaders
  double cpus_busy = 0;          // share of the CPUs' time that loaders alone took; 0: unknown
  double all_reduce_share = 0;   // of a step: its gradients were averaged
  double cpu_quota_stopped = 0;  // of the periods of the CPU quota; 0: no quota, or unknown
  double open_share = 0;         // of a read: its file was opened; medians. 0: unknown, or no file
  std::string page_cache;        // see run::PageCache::state; of the cell's run

  bool reads_reach_storage() const { return page_cache == "cold" || page_cache == "bypassed"; }
};

// What a diagnosis rests on.
struct Evidence {
  plan::CellSettings settings;
  Servers servers;
  std::vector<RoundEvidence> rounds;

  // Of all GPUs, in the cell. Servers::images_per_step is that of the blocks, whose batches may be
  // smaller.
  double images_per_step() const;
  int batch_of_blocks() const;     // for each GPU
  double mean_step_cpu_s() const;  // over the rounds that know it
  double mean_cpus_busy() const;   // the same
  double mean_all_reduce_share() const;
  bool is_stopped_by_quota() const;  // in most periods: the CPU time is used up, whoever used it
  double mean_open_share() const;    // over the rounds that know it
  std::vector<Round> ladder() const;
  // The same without the rungs that are noise.
  std::vector<Round> sound_ladder() const;
  // The rung does a part of what the cell does, with as many workers or more, and yet was slower by
  // more than runs differ: something else slowed it.
  bool is_noise(LadderRung rung) const;
  std::vector<BlockPair> pairs() const;     // of all rounds
  measure::StageTotals undelayed() const;   // the same
  LadderRung own_rung() const;              // of the cell itself: cold where the cell is
  double mean_rate(LadderRung rung) const;  // images/s; 0: it was not measured
  double share_of_ceiling() const;          // that the cell reaches; 0: unknown
  bool is_at_ceiling() const;               // see kAtCeiling; not beyond what can be
  bool is_impossible() const;               // see kImpossible
  bool reads_reach_storage() const;         // no page cache serves them
};

// Of the time in which the devices work, what averaging gradients takes. `least_sync_ms`: of the
// rank that waited for the others least; 0 of a single one.
double all_reduce_share(double least_sync_ms, double step_ms, double device_idle_fraction);

}  // namespace feedrate::judge
