#pragma once
#include <span>

namespace feedrate::measure {

// Whether a series of step durations has stopped changing. It looks at the last half alone (a
// warm-up throws the first half away), as means of blocks of steps. Of the block lengths that leave
// 6 to 40 blocks it takes the one that explains most, so that steps which come in a rhythm (a spike
// every n) fall into equal blocks. Steady means:
// - no change point: no two neighbouring parts whose means differ by more than 5 % and by more than
//   four standard errors, and
// - no slope: the straight line through the blocks (least squares) moves by at most 5 % over the
//   half and, with its 95 % interval, by at most 10 %. In a half of 64 steps or more, the noise of
//   the steps may also hide the slope.
// False for fewer than kSteadyNeeds steps. docs/measuring.md has the shares of right answers.
inline constexpr int kSteadyNeeds = 16;
bool is_steady(std::span<const double> step_seconds);

// Whether the series as a whole clearly changes: its ten blocks have a change point, or a slope of
// more than 5 % beyond its interval. A measured window is checked with it afterwards. False for
// fewer than 20 steps.
bool is_changing(std::span<const double> step_seconds);

}  // namespace feedrate::measure
