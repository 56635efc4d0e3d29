#pragma once
#include <span>

namespace feedrate {

// Whether a series of step durations has stopped changing. Looks at its last half alone (the first is what a warm-up
// throws away), as means of blocks of steps; of the block lengths that leave 6 to 40 blocks the one that explains most, so that steps
// which come in a rhythm (spike every n) fall into equal blocks. Steady:
// - no change point: no two neighbouring parts whose means differ by more than 5 % and by more than four standard errors, and
// - no slope: the straight line through the blocks (least squares) moves by at most 5 % over the half, and, with its 95 %
//   interval, by at most 10 %; or, from 64 steps on, by no more than the noise of the steps hides anyhow.
// False for fewer than kSteadyNeeds steps. docs/measuring.md has the shares of right answers.
inline constexpr int kSteadyNeeds = 16;
bool is_steady(std::span<const double> step_seconds);

// Whether the series as a whole plainly changes, by the same two signs on ten blocks: a change point, or a slope of more than
// 5 % beyond its interval. What a measured window is asked afterwards. False for fewer than 20 steps.
bool is_changing(std::span<const double> step_seconds);

}  // namespace feedrate
