#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/delays.h"
#include "measure/statistics.h"

namespace feedrate::judge {

// Two neighbouring blocks of one run: in one a place was delayed, in the other it was not.
struct BlockPair {
  measure::Place place = measure::Place::worker;
  measure::Delay delay;
  double on = 0, off = 0;  // images/s that the run kept up
};

// What the delays' resources are made of: how many serve at a time, all ranks together.
struct Servers {
  double workers = 1;  // threads that make samples
  double cpus = 1;     // that they may use
  double images_per_step = 1;
};

// How much a delay of one place slows the whole: 0 not at all, 1 as much as it would if the run
// waited for that place alone. A place that binds has a slope near 1, one with room to spare
// (more of it than the delay takes) 0.
struct Slope {
  measure::Place place = measure::Place::worker;
  bool burns = false;
  double delay_ms = 0;     // per sample in a worker, else per step; of reads: 0
  double extra_reads = 0;  // per sample; of other places than the storage: 0
  double withheld = 0;     // share of the reads in flight; of other places: 0
  std::size_t pairs = 0;
  measure::Estimate slope;  // trimmed mean of the pairs; from 3 on with an interval
  double standard_error = 0;
  int degrees = 0;  // of freedom; 0: one pair tells nothing of its error
  // A larger slope means that the run waits for the place. Half of what a place that binds costs is
  // halfway between the two. Reads in flight are whole ones: where one of two is withheld, the run
  // is hurt although it had room for a delay of kDelayShare; so it is the slope of what has as much
  // room as a place whose slope is 1/2.
  double threshold = 0.5;

  // P(slope > threshold), by Student's t: that the run waits for it. Nothing where one pair tells
  // nothing of its error.
  std::optional<double> binds() const { return above(threshold); }
  std::optional<double> above(double least) const;
};

// Of that delay; null where no pair of blocks had it.
const Slope* slope_of(const std::vector<Slope>& slopes, measure::Place place, bool burns);

// Delays are chosen so long that a place that binds slows the run by this share.
inline constexpr double kDelayShare = 0.2;
// The delay of one sample, or of one step, for that; of the storage, the reads that do it. Not of
// reads in flight, see withheld_of(). `imgs_per_s`: what the run reaches.
measure::Delay delay_of(measure::Place place, bool burns, double imgs_per_s,
                        const Servers& servers);
// Of so many reads that a worker has in flight (two or more), the whole ones that come nearest, one
// at least.
measure::Delay withheld_of(int depth);
// By how much it would slow a run that waited for its place alone: 1.2 for such a delay.
double full_factor(const BlockPair& pair, const Servers& servers);

// One for each place and kind of delay that there are pairs of, in the order of Place, slept before
// burnt.
std::vector<Slope> slopes_of(std::span<const BlockPair> pairs, const Servers& servers);

}  // namespace feedrate::judge
