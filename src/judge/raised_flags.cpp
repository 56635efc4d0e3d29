#include "judge/raised_flags.h"

#include <algorithm>

namespace feedrate::judge {
namespace {

// Counts its runs for those that raised it before, if any did. `runs`: more of them.
void add_raised(std::vector<RaisedFlag>& raised, const Flag& flag, int runs) {
  const auto known = std::ranges::find_if(
      raised, [&](const RaisedFlag& other) { return other.flag.name == flag.name; });
  if (known == raised.end()) {
    raised.push_back({flag, runs});
    return;
  }
  known->runs += runs;
  if (is_worse(flag, known->flag)) known->flag = flag;
}

}  // namespace

bool is_worse(const Flag& flag, const Flag& than) {
  return flag.severity != than.severity ? flag.severity > than.severity : flag.figure > than.figure;
}

// A run may raise a name more than once, as for several machines.
void add_run(std::vector<RaisedFlag>& raised, const std::vector<Flag>& flags) {
  std::vector<RaisedFlag> of_run;
  for (const Flag& flag : flags) add_raised(of_run, flag, 0);
  for (RaisedFlag& one : of_run) one.runs = 1;
  add_runs(raised, of_run);
}

void add_runs(std::vector<RaisedFlag>& raised, const std::vector<RaisedFlag>& others) {
  for (const RaisedFlag& other : others) add_raised(raised, other.flag, other.runs);
}

}  // namespace feedrate::judge
