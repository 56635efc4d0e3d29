#include "diagnose/fairness.h"

#include <algorithm>

namespace feedrate::diagnose {

double jains_index(std::span<const double> shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) sum += share, squares += share * share;
  return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 1;
}

Fairness fairness_of(std::span<const JobRates> jobs) {
  Fairness found;
  for (const JobRates& job : jobs) found.shares.push_back(job.together / job.alone);
  found.index = jains_index(found.shares);
  found.least =
      static_cast<std::size_t>(std::ranges::min_element(found.shares) - found.shares.begin());
  return found;
}

}  // namespace feedrate::diagnose
