#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace feedrate::diagnose {

// What a job reaches alone on a storage, and beside others; images/s.
struct JobRates {
  double alone = 0, together = 0;
};

// How several jobs share what each reaches alone.
struct Fairness {
  std::vector<double> shares;  // of each job: together / alone
  double index = 1;            // Jain's, of the shares
  std::size_t least = 0;       // the job with the smallest share: the first to starve
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

}  // namespace feedrate::diagnose
