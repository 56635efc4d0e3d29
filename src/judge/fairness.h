#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "measure/statistics.h"

namespace feedrate::judge {

// What a job reaches alone on a storage, and beside others; images/s.
struct JobRates {
  double alone = 0, together = 0;
};

// How several jobs share what each reaches alone.
struct Fairness {
  std::vector<double> shares;  // of each job: together / alone
  double index = 1;            // Jain's, of the shares
};

// A job starves if it loses at least this share of what it reaches alone: a verdict calls less "not
// input-bound".
inline constexpr double kStarves = 0.05;

// (sum of x)^2 / (n * sum of x^2): 1 if all are alike, k / n if k of n share alike and the others
// have nothing. Jain, Chiu and Hawe 1984: "A Quantitative Measure of Fairness and Discrimination
// for Resource Allocation in Shared Computer Systems", DEC-TR-301. 1 where nobody has anything.
double jains_index(std::span<const double> shares);

// Of one job at least; each reaches something alone.
Fairness fairness_of(std::span<const JobRates> jobs);

// The same over repetitions. A job's share, and how it compares with another's, is paired within a
// repetition, so that what makes one repetition slower than the next does not count.
struct FairnessEstimate {
  std::vector<measure::Estimate> shares;  // of each job
  measure::Estimate index;                // its interval ends at 1/n and 1
  // The job with the smallest share, the first to starve, and after it those whose shares are not
  // clearly larger: the interval of the ratio holds 1. Without intervals, that job alone.
  std::vector<std::size_t> least;
  // Whether a job starves. Nothing: the intervals allow both.
  std::optional<bool> starves;
};
// Of one repetition at least, all of the same jobs; no share is 0.
FairnessEstimate fairness_over(std::span<const Fairness> repetitions);

}  // namespace feedrate::judge
