#pragma once
#include <string>

#include "run/measurement.h"

namespace feedrate::judge {

// The least share of the dataset's pictures that are bad, going by those that a run drew: what it
// found, over all pictures of the dataset; or, where that is more, the lower limit (one-sided, 95
// %) of the share among those that it drew. 0: none was skipped. 1: some were, of an unknown
// number.
// `is_by_chance`: it drew them in shuffled order; else they say nothing of the others.
double least_bad_share(const run::SkippedSamples& bad, bool is_by_chance);

// "1 of the 2000 different pictures that were drawn is bad (0.05 %): of all 10000, 0.01 % or more;
// skipped 3 times, the next one in its place; the first: ..."
std::string bad_pictures_text(const run::SkippedSamples& bad, bool is_by_chance);

}  // namespace feedrate::judge
