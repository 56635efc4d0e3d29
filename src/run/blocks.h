#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/delays.h"
#include "measure/stages.h"

namespace feedrate::run {

// A part of a run in which one place is delayed, or none is. All ranks begin and end a block at the
// same step.
struct Block {
  measure::Place place = measure::Place::worker;
  measure::Delay delay;  // ns 0: off
};

// What a run is cut into, once its steps are steady; empty: it is measured as one window.
struct BlockPlan {
  std::vector<Block> blocks;
  double seconds = 0.5;  // of a block, at least, after it has settled
  int least_steps = 4;   // the same, in steps
};

// What one block of all ranks gave. A queue that fills or empties within a block says nothing of
// what the run can keep up: that is the smaller of what the loaders made and what the device took.
struct BlockResult {
  std::size_t block = 0;                   // its place in the plan
  double taken_per_s = 0, made_per_s = 0;  // images/s of all ranks; made < 0: nothing is made
  double seconds = 0;
  double idle_fraction = 0;     // of the device, rank 0's
  measure::StageTotals stages;  // of all workers and ranks
  double imgs_per_s() const;    // that the run can keep up
};

}  // namespace feedrate::run
