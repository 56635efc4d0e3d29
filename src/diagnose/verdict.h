#pragma once
#include <string>
#include <vector>

#include "diagnose/capacity.h"
#include "plan/settings.h"
#include "run/measurement.h"

namespace feedrate::diagnose {

// Which resource limits a run, and which stage in it.
struct Verdict {
  std::vector<Capacity> capacities;  // the resource that limits comes first
  std::string sentence;
};

// Bands by the share of the window in which the device waited for data: < 5 % not input-bound,
// 5-20 % moderately, >= 20 % highly input-bound.
Verdict verdict_of(const plan::CellSettings& settings, const run::Measurement& measurement);

}  // namespace feedrate::diagnose
