#pragma once
#include <optional>
#include <span>

#include "measure/statistics.h"

namespace feedrate::measure {

// What a block of a run reached.
struct BlockWork {
  double images = 0;
  double seconds = 0;  // above zero
};

// Two blocks of one run, one after the other: of a cell, and of its ceiling.
struct WorkPair {
  BlockWork cell, ceiling;
};

// A cell's share of its ceiling: the rate of all its blocks over that of all the ceiling's. So a
// long step counts for the time that it took, however few blocks hold one; a mean of the pairs'
// logarithms would make little of it.
struct PairedShare {
  double share = 0;
  std::optional<Interval> ci95;  // over the pairs, from three on
};

// Of at least one pair. The interval is that of a ratio estimator (Cochran 1977, Sampling
// Techniques, chapter 6): a t-interval on the logarithm, from how far each pair lies off the whole.
// From eight pairs on it is inflated for the correlation of neighbouring pairs, as block_interval()
// is.
PairedShare share_of_pairs(std::span<const WorkPair> pairs);

}  // namespace feedrate::measure
