#pragma once
#include <string>
#include <vector>

#include "judge/evidence.h"

namespace feedrate::judge {

// What one kind of evidence says for itself; empty: nothing.
struct Witness {
  std::string ladder, capacities, slopes;
  bool agree = false;  // all that say something name what the verdict names
};

// What the ladder and the capacities say.
Witness witness_of(const Evidence& e, const std::vector<Loss>& losses);

// What a kind of evidence calls a thing that it cannot tell from another: a ladder's ceiling
// averages gradients as well, and no capacity says what a step is made of, or what of a read is the
// storage's.
bool is_meant(const std::string& witness, const std::string& name);

// Whether they agree with a verdict that names these.
void judge(Witness& witness, const std::vector<std::string>& names);

}  // namespace feedrate::judge
