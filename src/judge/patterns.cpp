#include "judge/patterns.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "judge/patterns/bursts.h"
#include "judge/patterns/drift.h"
#include "judge/patterns/lost_rhythm.h"
#include "judge/patterns/slow_start.h"
#include "judge/patterns/spikes.h"
#include "judge/patterns/uneven_waits.h"

namespace feedrate::judge {
namespace {

constexpr std::size_t kFewestSteps = 20;

bool are_durations(Series x) {
  return std::ranges::all_of(x, [](double v) { return std::isfinite(v) && v >= 0; });
}

Series known(Series x, std::size_t steps) { return x.size() == steps ? x : Series{}; }

Window behind(const Window& w, std::size_t steps) {
  const auto cut = [steps](Series x) { return x.empty() ? x : x.subspan(steps); };
  return {cut(w.step), cut(w.wait), cut(w.idle), w.ms};
}

bool is_of_the_workers(const Spikes& spikes, int workers) {
  const auto w = static_cast<size_t>(std::max(workers, 1));
  return spikes.period % w == 0 || w % spikes.period == 0;
}

// Spikes and a lost rhythm of the workers can look like each other: one spike every 9 steps is
// locally a rhythm of 8 workers that wanders, and such a one may come round after 25 steps, with
// three spikes in them. One spike a period is taken for what it is.
void add_rhythms(std::vector<Pattern>& found, const Window& w, const StepsSeen& seen) {
  const std::optional<Spikes> spikes = spikes_of(w, seen);
  const bool is_other = spikes && !is_of_the_workers(*spikes, seen.workers);
  std::optional<Pattern> lost;
  if (!is_other || spikes->long_phases > 1) lost = desynchronised_of(w, seen);
  if (spikes && !(is_other && lost)) found.push_back(spikes->pattern);
  if (lost) found.push_back(*lost);
}

}  // namespace

std::vector<Pattern> patterns_of(const StepsSeen& seen) {
  const std::size_t n = seen.step_ms.size();
  Window w{seen.step_ms, known(seen.data_wait_ms, n), known(seen.device_idle_ms, n),
           sum_of(seen.step_ms)};
  if (n < kFewestSteps || !are_durations(w.step) || !are_durations(w.wait) ||
      !are_durations(w.idle) || w.ms <= 0)
    return {};
  std::vector<Pattern> found;
  const auto add = [&found](const std::optional<Pattern>& pattern) {
    if (pattern) found.push_back(*pattern);
  };
  if (const auto start = slow_start_of(w)) {
    found.push_back(start->pattern);
    w = behind(w, start->steps);
  }
  const std::optional<Pattern> drift = drift_of(w);
  add(drift);
  add_rhythms(found, w, seen);
  if (!drift) add(bursts_of(w, seen));
  add(uneven_waits_of(w, seen));
  return found;
}

}  // namespace feedrate::judge
