#pragma once
#include <vector>

#include "judge/evidence.h"
#include "run/measurement.h"

namespace feedrate::session {

// Adds what a run of a rung measured to its round.
void add_run(const run::Measurement& m, judge::LadderRung rung, judge::RoundEvidence& round);
// Adds what the stages, steps and reads of a run of the cell itself tell beside that: to the
// capacities, that of its reads in flight.
void add_own_run(const plan::CellSettings& settings, const run::Measurement& m,
                 std::vector<judge::Capacity> capacities, judge::RoundEvidence& round);

// What all processes of a run took in its window of the CPU time that it may use; a little more
// than 1 is rounding. 0: unknown.
double cpus_busy(const run::Measurement& m);
// The CPUs that a run may use, at least one.
double usable_cpus(const run::Measurement& m);

}  // namespace feedrate::session
