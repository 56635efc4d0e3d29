#include "judge/patterns/slow_start.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judge/patterns/noise.h"

namespace feedrate::judge {
namespace {

using std::size_t;

// How far the first steps lie above the rest, in standard errors: the largest over their number,
// up to `most`.
struct Split {
  size_t steps = 0;
  double t = 0;
};
Split first_steps_above(Series x, size_t most) {
  const auto n = static_cast<double>(x.size());
  const double mean = mean_of(x), sd = std::sqrt(squares_around(x, mean) / n);
  Split best;
  if (sd <= 0) return best;
  double above = 0;
  for (size_t i = 0; i < most; ++i) {
    above += x[i] - mean;
    const double k = static_cast<double>(i) + 1;
    const double t = above / (sd * std::sqrt(k * (n - k) / n));
    if (t > best.t) best = {i + 1, t};
  }
  return best;
}

}  // namespace

std::optional<SlowStart> slow_start_of(const Window& w) {
  const std::vector<double> logs = logs_of(w.step);
  const std::size_t n = logs.size(), most = n / 4;
  const Split split = first_steps_above(logs, n - 1);
  if (split.steps == 0 || split.steps > most) return std::nullopt;
  const double head = mean_of(w.step.first(split.steps)),
               rest = mean_of(w.step.subspan(split.steps));
  const double share = static_cast<double>(split.steps) * (head - rest) / w.ms;
  if (share < kOfImportance) return std::nullopt;
  Noise noise(logs, std::max(kNeighbours, neighbour_correlation(Series(logs).subspan(most))));
  const double p = chance_of(split.t, [&] { return first_steps_above(noise.next(), most).t; });
  if (p > kLevel) return std::nullopt;
  return SlowStart{
      split.steps,
      {"slow_start",
       format("first %zu of %zu steps: mean %.4g ms, then %.4g ms; t %.1f, p <= %.2g; %.1f %% of "
              "the window",
              split.steps, n, head, rest, split.t, p, 100 * share),
       format("The first %zu steps of the window take %.2g times as long as the rest. The warm-up "
              "was too short: caches, clocks or the queue had not come to rest. Look at the steps "
              "of the warm-up, and give it more of them.",
              split.steps, head / rest)}};
}

}  // namespace feedrate::judge
