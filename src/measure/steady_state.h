#pragma once
#include <span>

namespace feedrate {

// Whether a series of step durations has stopped changing: the mean of its last quarter and of the
// quarter before differ by less than 5 %, or by less than two standard errors of their difference
// (steps that spike every n are steady although no two quarters are alike). The first half is never
// looked at: it is what the warm-up throws away. False for fewer than kSteadyNeeds steps.
inline constexpr int kSteadyNeeds = 16;
bool is_steady(std::span<const double> step_seconds);

}  // namespace feedrate
