#pragma once
#include <numeric>
#include <span>
#include <vector>

namespace feedrate::judge {

// One value for each step.
using Series = std::span<const double>;

inline double sum_of(Series x) { return std::accumulate(x.begin(), x.end(), 0.0); }
inline double mean_of(Series x) {
  return x.empty() ? 0 : sum_of(x) / static_cast<double>(x.size());
}
double squares_around(Series x, double middle);

// One tail alone: durations are skewed, and a few long ones would hide the rest. A step of no time
// has no logarithm; it counts as a hundredth of the mean.
std::vector<double> logs_of(Series x);

// Of neighbouring values, around the means of the thirds: a slow change is no correlation.
double neighbour_correlation(Series x);

// What all patterns are looked for in.
struct Window {
  Series step, wait, idle;  // wait and idle: empty where unknown
  double ms = 0;            // of all steps, a slow start included
};

}  // namespace feedrate::judge
