#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "run/cell_runner.h"

namespace feedrate::run {

// Several cells at the same time, each in processes of its own, as trainings that share a machine
// and a storage.

// How long a run took to begin: to its first step, and from there until its window opened.
struct Beginning {
  double prepare_s = 0, warmup_s = 0;
};
// Of a run that was started at `started_ns` (now_ns()).
Beginning beginning_of(const Measurement& m, std::int64_t started_ns);

// When the windows of runs open that start at `now_ns`. `alone`: how each began when it ran by
// itself. Even if they prepare one after the other, all load for the last half of the warm-up and
// for as long as the longest window can be.
SharedWindow appointment_of(std::int64_t now_ns, std::span<const Beginning> alone,
                            const RunLimits& limits);

// From one moment of now_ns() to another.
struct TimeSpan {
  std::int64_t from_ns = 0, to_ns = 0;
};
TimeSpan window_of(const Measurement& m);

// The time that all have in common, as a share of the longest; 0 for none.
double common_share(std::span<const TimeSpan> spans);

// One of the cells. `runner` has options of its own: another seed than the others', whose samples
// it would else read in the same order at the same time.
struct Job {
  plan::Cell cell;
  CellRunner* runner = nullptr;
};
struct JobEnd {
  CellResult result;
  std::int64_t at_ns = 0;  // now_ns()
};

// What was seen of each job; 0 steps: it is preparing.
using JobsSink = std::function<void(std::span<const RunProgress>)>;

// Starts all of them and returns when the last one has ended. A job that fails ends alone.
// `progress`: called by this thread, ten times a second.
std::vector<JobEnd> run_together(std::span<const Job> jobs, const JobsSink& progress,
                                 std::stop_token stop);

// How far the windows of jobs lay within each other.
struct Overlap {
  int jobs = 0;      // that had a part in them: not those that failed before the windows opened
  double share = 0;  // common_share() of the windows; 0 where a job failed while others measured
};
Overlap overlap_of(std::span<const JobEnd> ends, std::int64_t opens_ns);

// Each job counted what the others took of the CPUs as other processes'. Takes it out, as far as
// they ended well, so that it is what programs that are no jobs took. What these read of the
// storage is then unknown: no two windows are the same.
void leave_out_each_other(std::span<JobEnd> ends);

}  // namespace feedrate::run
