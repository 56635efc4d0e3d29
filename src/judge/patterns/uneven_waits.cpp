#include "judge/patterns/uneven_waits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace feedrate::judge {

std::optional<Pattern> uneven_waits_of(const Window& w, const StepsSeen& seen) {
  constexpr double kEnough = 1.05, kWaits = 0.05, kHalf = 0.5;
  const double idle_ms = sum_of(w.idle), busy_ms = sum_of(w.step) - idle_ms;
  if (w.idle.empty() || idle_ms / w.ms < kWaits || busy_ms <= 0) return std::nullopt;
  const auto n = static_cast<double>(w.idle.size());
  const double demand = 1e3 * seen.batch_size * n / busy_ms;
  if (seen.loader_imgs_per_s < kEnough * demand) return std::nullopt;
  std::vector<double> sorted(w.idle.begin(), w.idle.end());
  std::ranges::sort(sorted);
  const double in_longest = sum_of(Series(sorted).last(sorted.size() / 20)) / idle_ms;
  if (in_longest < kHalf) return std::nullopt;
  const double variation = std::sqrt(squares_around(w.idle, idle_ms / n) / n) / (idle_ms / n);
  return Pattern{
      "uneven_waits",
      format("the device waits %.1f %% of the time; the longest 5 %% of the waits hold %.0f %% of "
             "it; coefficient of variation %.1f; the loader could deliver %.0f img/s, the device "
             "takes %.0f img/s",
             100 * idle_ms / w.ms, 100 * in_longest, variation, seen.loader_imgs_per_s, demand),
      format(
          "The loader is fast enough on average, and yet the device waits: a few steps hold most "
          "of the waiting. Usually single samples or reads that take very long. Look at p99 and "
          "max of the reads and at the largest files; a longer queue (prefetch is %d) hides "
          "them, more speed does not.",
          seen.prefetch)};
}

}  // namespace feedrate::judge
