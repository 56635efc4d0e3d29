#include "measure/paired_share.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace feedrate::measure {
namespace {

BlockWork sum_of(std::span<const WorkPair> pairs, BlockWork WorkPair::* which) {
  BlockWork sum;
  for (const WorkPair& pair : pairs) {
    sum.images += (pair.*which).images;
    sum.seconds += (pair.*which).seconds;
  }
  return sum;
}

double rate_of(const BlockWork& work) { return work.images / work.seconds; }

// How far the logarithm of a rate would move if the block were twice as long.
double influence(const BlockWork& block, const BlockWork& all) {
  return block.images / all.images - block.seconds / all.seconds;
}

// Half-width of the 95 % interval of the share's logarithm.
double half_width(std::span<const WorkPair> pairs, const BlockWork& cell,
                  const BlockWork& ceiling) {
  constexpr double kResolution = 1e-9;  // as estimate_of()'s
  const auto n = static_cast<double>(pairs.size());
  std::vector<double> off;
  for (const WorkPair& pair : pairs)
    off.push_back(influence(pair.cell, cell) - influence(pair.ceiling, ceiling));
  const auto [squares, inflation, degrees] = scatter_of(off);
  return student_t(0.95, degrees) *
         std::max(std::sqrt(n / (n - 1) * squares * inflation), kResolution);
}

}  // namespace

PairedShare share_of_pairs(std::span<const WorkPair> pairs) {
  const BlockWork cell = sum_of(pairs, &WorkPair::cell),
                  ceiling = sum_of(pairs, &WorkPair::ceiling);
  PairedShare found{.share = rate_of(cell) / rate_of(ceiling), .ci95 = {}};
  if (pairs.size() < kLeastRepetitions) return found;
  const double half = half_width(pairs, cell, ceiling);
  found.ci95 = Interval{found.share * std::exp(-half), found.share * std::exp(half)};
  return found;
}

}  // namespace feedrate::measure
