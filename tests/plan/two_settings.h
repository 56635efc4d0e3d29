#pragma once
#include <vector>

#include "plan/expand.h"

namespace feedrate::tests {

// Ten cells: for one GPU and for two, a ceiling and four cells that are compared with it.
inline std::vector<plan::Cell> two_settings() {
  return plan::expand({{"device", {"emulated:a100"}},
                       {"data", {"synthetic", "jpeg", "png"}},
                       {"workers", {"1", "2"}},
                       {"gpus", {"1", "2"}}});
}

// The same for runs that cannot be in pairs with their ceiling, see plan::may_be_in_pairs().
inline std::vector<plan::Cell> cold(std::vector<plan::Cell> cells) {
  for (plan::Cell& cell : cells)
    if (!cell.is("data", "synthetic")) cell.set("page-cache", "cold");
  return cells;
}

}  // namespace feedrate::tests
