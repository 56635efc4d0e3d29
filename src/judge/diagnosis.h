#pragma once
#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "judge/suspects.h"
#include "judge/witness.h"

namespace feedrate::judge {

// What limits the run, in the order of weight. Names: compute, normalise, copy, collate, augment,
// decode, read, storage, lock, "shared CPU", all-reduce, harness.
struct Finding {
  std::vector<std::string> names;      // one; several where they are equally slow, or not clear
  std::vector<std::string> resources;  // theirs: "workers", "reads in flight", "CPU", "device" ...
  bool clear = true;                   // false: the intervals do not tell which of the names it is
  // That the run waits for the names, and for nothing else; kUnperturbed at most where no delay
  // tells of them.
  std::optional<double> confidence;
  std::vector<Suspect> suspects;  // all, the likeliest first
  std::string sentence;
  Witness witness;

  // Likeliest is that the run waits for nothing that is always delayed.
  bool nothing_usual_binds() const;
};

struct Diagnosis : Delayed {
  std::vector<Loss> waterfall;
  Finding finding;
};

// `evidence` of one round at least, whose ceiling and cell were measured. What is missing (no
// slopes, rungs that failed) makes the answer less sure, not impossible.
Diagnosis diagnosis_of(const Evidence& evidence);

// "decode", "decode and augment", "a, b and c".
std::string joined(const std::vector<std::string>& names);

}  // namespace feedrate::judge
