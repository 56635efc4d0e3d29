#pragma once
#include <span>

namespace feedrate::plan {

// How precisely a sweep is to know each cell's share of the ceiling. Stein's two-stage rule (1945,
// "A two-sample test for a linear hypothesis whose power is independent of the variance"): the
// spread over the first repetitions, the pilot, says how many there have to be, at least. The
// interval with that spread, and its degrees of freedom, around the mean of all repetitions then
// holds the truth in 95 % of cases, however many there are. A spread that kept deciding would end a
// sweep where it happens to be small.
struct Precision {
  // Of the 95 % interval of a share, the half-width as a part of the share: 0.02 is 2 %. 0: as
  // small as the time allows.
  double target = 0;
  int pilot = 6;  // repetitions; at least kLeastPilot
};
inline constexpr int kLeastPilot = 3;

// Where a budget ends a sweep, the cells that met the target are those whose spread happened to be
// small. Their intervals, wider by so much, hold the truth in 94 % of cases or more
// (scripts/validate-measurement precision).
inline constexpr double kWider = 1.07;

// Half-width of the 95 % interval around the mean logarithm: by the pilot's spread, or by that of
// all values where this is wider; kWider. `logs`: one for each repetition, in order. Infinite below
// kLeastPilot values.
double half_width(std::span<const double> logs, int pilot);

// How many repetitions the values so far, at least `pilot`, ask for; those that there are where
// they are enough.
int repetitions_needed(std::span<const double> logs, const Precision& precision);

}  // namespace feedrate::plan
