#include "judge/fairness.h"

#include <algorithm>
#include <cmath>

namespace feedrate::judge {
namespace {

// One value for each repetition.
template <typename ValueOf>
std::vector<double> each(std::span<const Fairness> repetitions, ValueOf value_of) {
  std::vector<double> values;
  for (const Fairness& repetition : repetitions) values.push_back(value_of(repetition));
  return values;
}

measure::Estimate index_over(std::span<const Fairness> repetitions) {
  measure::Estimate index =
      measure::estimate_of(each(repetitions, [](const Fairness& f) { return f.index; }));
  const double least = 1 / static_cast<double>(repetitions.front().shares.size());
  if (index.ci95) {
    index.ci95 =
        measure::Interval{std::max(least, index.ci95->low), std::min(1.0, index.ci95->high)};
  }
  return index;
}

std::vector<std::size_t> least_over(std::span<const Fairness> repetitions,
                                    const std::vector<measure::Estimate>& shares) {
  const auto least = static_cast<std::size_t>(
      std::ranges::min_element(shares, {}, &measure::Estimate::mean) - shares.begin());
  std::vector<std::size_t> found = {least};
  for (std::size_t job = 0; job < shares.size(); ++job) {
    if (job == least) continue;
    const auto ratio = measure::estimate_of_shares(
        each(repetitions, [&](const Fairness& f) { return f.shares[least] / f.shares[job]; }));
    if (ratio.ci95 && ratio.ci95->high >= 1) found.push_back(job);
  }
  return found;
}

// Whether any share is so small. Of many jobs one looks so by chance: that it is, is said where its
// interval of 1 - 0.05 / n holds nothing else (Bonferroni).
std::optional<bool> starves(const std::vector<measure::Estimate>& shares, int repetitions) {
  constexpr double kEnough = 1 - kStarves;
  const auto n = static_cast<double>(shares.size());
  const double wider =
      measure::student_t(1 - 0.05 / n, repetitions - 1) / measure::student_t(0.95, repetitions - 1);
  const auto low = [](const measure::Estimate& x) { return x.ci95 ? x.ci95->low : x.mean; };
  const auto high = [wider](const measure::Estimate& x) {
    return x.ci95 ? x.mean * std::pow(x.ci95->high / x.mean, wider) : x.mean;
  };
  if (std::ranges::any_of(shares, [&](const auto& share) { return high(share) <= kEnough; }))
    return true;
  if (std::ranges::all_of(shares, [&](const auto& share) { return low(share) > kEnough; }))
    return false;
  return std::nullopt;
}

}  // namespace

double jains_index(std::span<const double> shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) sum += share, squares += share * share;
  return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 1;
}

Fairness fairness_of(std::span<const JobRates> jobs) {
  Fairness found;
  for (const JobRates& job : jobs) found.shares.push_back(job.together / job.alone);
  found.index = jains_index(found.shares);
  return found;
}

FairnessEstimate fairness_over(std::span<const Fairness> repetitions) {
  FairnessEstimate found;
  for (std::size_t job = 0; job < repetitions.front().shares.size(); ++job) {
    found.shares.push_back(measure::estimate_of_shares(
        each(repetitions, [job](const Fairness& f) { return f.shares[job]; })));
  }
  found.index = index_over(repetitions);
  found.least = least_over(repetitions, found.shares);
  found.starves = starves(found.shares, static_cast<int>(repetitions.size()));
  return found;
}

}  // namespace feedrate::judge
