#pragma once
#include <string>
#include <vector>

#include "judge/evidence.h"

namespace feedrate::judge {

// Something that the run may wait for, and how likely it is.
struct Suspect {
  std::vector<std::string> names;  // what most of its time goes into; several that are about alike
  std::string resource;
  double binds = 0;        // probability
  bool is_delayed = true;  // else it is what is left where no delay costs anything
};

// What delays cost, and where the workers' time goes.
struct Delayed {
  std::vector<Slope> slopes;
  ServiceTimes service, cpu;  // of one sample in one worker: wall time, and CPU time
};

// The likeliest first.
std::vector<Suspect> suspects_of(const Evidence& e, const Delayed& d);

// What it is if it is none of the suspects: what nobody here can delay.
Suspect beyond_delays(const std::vector<Suspect>& suspects, const Evidence& e, const Delayed& d);

}  // namespace feedrate::judge
