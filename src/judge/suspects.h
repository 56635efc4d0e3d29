#pragma once
#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"

namespace feedrate::judge {

// What ladder, capacities and elimination say without a change that was made on purpose is never
// surer than that.
inline constexpr double kUnperturbed = 0.8;

// Something that the run may wait for, and how likely it is.
struct Suspect {
  std::vector<std::string> names;  // what most of its time goes into; several that are about alike
  std::string resource;
  // Probability. Nothing: no pairs of blocks tell, and the times that it was idle do not exclude
  // it.
  std::optional<double> binds;
  bool is_delayed = true;  // else it is what is left where no delay costs anything
  double most = 1;         // what of `binds` may be said: see kUnperturbed
};

// What delays cost, and where the workers' time goes.
struct Delayed {
  std::vector<Slope> slopes;
  ServiceTimes service, cpu;  // of one sample in one worker: wall time, and CPU time
};

// The likeliest first, those of which nothing is known last.
void sort_by_likelihood(std::vector<Suspect>& suspects);
std::vector<Suspect> suspects_of(const Evidence& e, const Delayed& d);

// What it is if it is none of the suspects: what nobody here can delay. Nobody knows how likely
// that is where one of the suspects was not measured.
Suspect beyond_delays(const std::vector<Suspect>& suspects, const Evidence& e, const Delayed& d);

}  // namespace feedrate::judge
