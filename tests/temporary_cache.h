#pragma once
#include <cstdlib>

#include "tests/temporary_folder.h"

namespace feedrate::tests {

// A cache folder of its own for one test: what is kept of its folders is of no use to the user.
class TemporaryCache {
 public:
  TemporaryCache() { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  ~TemporaryCache() { unsetenv("XDG_CACHE_HOME"); }

 private:
  TemporaryFolder folder_;
};

}  // namespace feedrate::tests
