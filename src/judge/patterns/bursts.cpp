#include "judge/patterns/bursts.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judge/patterns/noise.h"

namespace feedrate::judge {
namespace {

using std::size_t;

// P(X >= least) of a binomial.
double binomial_tail(int least, int n, double p) {
  if (p >= 1) return 1;
  double sum = 0;
  for (int k = std::max(least, 0); k <= n; ++k) {
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                    k * std::log(p) + (n - k) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

// Long waits, one after the other.
struct LongWaits {
  int waits = 0, runs = 0;        // runs of one or more
  int bursts = 0;                 // runs of kBurst or more
  double in_bursts_ms = 0;        // waited in them, beyond the mean wait
  int followed = 0, by_long = 0;  // long waits that are not the last step, and followed by another
};
LongWaits long_waits_of(Series wait) {
  constexpr size_t kBurst = 3;
  const double mean = mean_of(wait);
  LongWaits found;
  for (size_t from = 0, to = 0; from < wait.size(); from = to + 1) {
    to = from;
    double beyond = 0;
    while (to < wait.size() && wait[to] > mean) beyond += wait[to++] - mean;
    const auto length = static_cast<int>(to - from);
    if (length == 0) continue;
    found.waits += length;
    ++found.runs;
    found.by_long += length - 1;
    found.followed += to < wait.size() ? length : length - 1;
    if (to - from >= kBurst) ++found.bursts, found.in_bursts_ms += beyond;
  }
  return found;
}

}  // namespace

std::optional<Pattern> bursts_of(const Window& w, const StepsSeen& seen) {
  constexpr int kSeveral = 3;
  const LongWaits found = long_waits_of(w.wait);
  if (found.bursts < kSeveral) return std::nullopt;
  const double length = static_cast<double>(found.waits) / found.runs;
  // A host that runs ahead waits although the device has work: no more is lost than the device
  // waits.
  const double lost =
      w.idle.empty() ? found.in_bursts_ms : std::min(found.in_bursts_ms, sum_of(w.idle));
  if (length < 2 || lost / w.ms < kOfImportance) return std::nullopt;
  const double share = static_cast<double>(found.waits) / static_cast<double>(w.wait.size());
  const double p = binomial_tail(found.by_long, found.followed, share + kNeighbours * (1 - share));
  if (p > kLevel) return std::nullopt;
  return Pattern{
      "bursts",
      format("%d bursts of three or more; runs of long waits hold %.1f steps, by chance %.1f; %d "
             "of %d long waits are followed by one, p <= %.1g; %.1f %% of the window",
             found.bursts, length, 1 / (1 - share), found.by_long, found.followed, p,
             100 * lost / w.ms),
      format("Long waits come several in a row (%.1f on average), then none. Usually the supply "
             "stops for a while: storage that stalls, a cache that is written back, another "
             "program. Look at storage and CPU pressure at these moments; a prefetch (now %d) that "
             "holds a whole burst hides it.",
             length, seen.prefetch)};
}

}  // namespace feedrate::judge
