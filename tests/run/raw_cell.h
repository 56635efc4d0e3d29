#pragma once
#include "plan/expand.h"

namespace feedrate::tests {

// A cell of raw pixels, 8x8, on an emulated device of 1000 images/s; `more` axes have their say
// first.
inline plan::Cell raw_cell(plan::AxisValues more = {}) {
  more.merge(plan::AxisValues{{"device", {"emulated:1000"}},
                              {"data", {"raw"}},
                              {"workers", {"2"}},
                              {"gpus", {"1"}},
                              {"batch-size", {"4"}},
                              {"image-size", {"8"}},
                              {"input-size", {"8"}}});
  return plan::expand(more).at(0);
}

}  // namespace feedrate::tests
