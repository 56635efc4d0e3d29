#pragma once
#include <optional>
#include <string>
#include <vector>

#include "judge/capacity.h"
#include "plan/settings.h"
#include "run/measurement.h"

namespace feedrate::judge {

// The ceiling that a run is compared with.
struct Ceiling {
  double imgs_per_s = 0;
  run::DeviceRate device;
  std::string unfit{};  // why it must not be quoted: the names of its serious flags; empty: it may
  std::string kernels{};  // of its step, see DeviceDescription
};

// How much longer a step takes than at the ceiling, the waiting for data left out: loaders that
// compute on the CPUs of a CPU step, or copies, decoding and augmenting beside a GPU's, slow the
// step itself.
struct Slowdown {
  double factor = 1;         // mean step / mean step at the ceiling
  measure::Interval ci95;    // of it, over the pairs or from the steps of both runs
  double lost_fraction = 0;  // of the window: what the steps took beyond those of the ceiling
  bool is_shown() const { return ci95.low > 1 + kNoticed; }
  static constexpr double kNoticed = 0.01;  // two runs of the same steps may differ by so much
};

// Nothing where there are neither pairs nor steps enough for an interval.
std::optional<Slowdown> slowdown_of(const run::Measurement& measurement, const Ceiling& ceiling);

// Whether loading limits a run, see verdict_of(). `unknown`: the steps are too few or too uneven to
// tell, or the machine was slower than at the ceiling.
enum class Band { unknown, not_bound, moderately, highly };

// Which resource limits a run, and which stage in it.
struct Verdict {
  std::vector<Capacity> capacities;  // the resource that limits comes first
  std::optional<Slowdown> slowdown;
  Band band = Band::unknown;
  std::string sentence;
  bool is_input_bound() const { return band == Band::moderately || band == Band::highly; }
};

// Bands by the share of the window that the input costs: the waiting beyond that at the ceiling
// and, where the intervals of the steps show it and loading can be why, the time by which they were
// longer. Below 5 % a run is not input-bound, below 20 % moderately, from there on highly. Without
// a ceiling only the waiting is known, and the sentence says so.
Verdict verdict_of(const plan::CellSettings& settings, const run::Measurement& measurement,
                   const std::optional<Ceiling>& ceiling);

}  // namespace feedrate::judge
