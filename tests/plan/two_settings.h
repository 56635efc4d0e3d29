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

}  // namespace feedrate::tests
