#pragma once
#include <vector>

#include "judge/flags.h"

namespace feedrate::judge {

// A flag as the runs of one answer raised it: the worst run's, and how many did.
struct RaisedFlag {
  Flag flag;
  int runs = 1;
};

// Of two flags of one name: by their severity, then by their figure.
bool is_worse(const Flag& flag, const Flag& than);

// Adds what one run raised to what the runs before it did: each name once, in the order in which
// they came. Of runs that are equally bad, the first one's flag stands.
void add_run(std::vector<RaisedFlag>& raised, const std::vector<Flag>& flags);
// Adds what other runs raised.
void add_runs(std::vector<RaisedFlag>& raised, const std::vector<RaisedFlag>& others);

}  // namespace feedrate::judge
