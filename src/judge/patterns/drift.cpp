#include "judge/patterns/drift.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "judge/patterns/noise.h"
#include "measure/statistics.h"

namespace feedrate::judge {
namespace {

using std::size_t;

std::vector<double> block_means(Series x) {
  const size_t blocks = std::clamp<size_t>(x.size() / 5, 10, 60);
  std::vector<double> means;
  for (size_t b = 0; b < blocks; ++b) {
    const size_t from = b * x.size() / blocks, to = (b + 1) * x.size() / blocks;
    means.push_back(mean_of(x.subspan(from, to - from)));
  }
  return means;
}

// Pairs that rise less pairs that fall, as a share of all: Kendall's tau against the order.
double kendalls_tau(Series x) {
  int rises = 0, pairs = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j, ++pairs) rises += (x[j] > x[i]) - (x[j] < x[i]);
  }
  return pairs == 0 ? 0 : static_cast<double>(rises) / pairs;
}

// The median slope of all pairs, from one value to the next.
double theil_sen_slope(Series x) {
  std::vector<double> slopes;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j)
      slopes.push_back((x[j] - x[i]) / static_cast<double>(j - i));
  }
  return measure::summarise(slopes).median;
}

}  // namespace

std::optional<Pattern> drift_of(const Window& w) {
  const size_t third = w.step.size() / 3;
  const double first = mean_of(w.step.first(third)), last = mean_of(w.step.last(third)),
               mean = mean_of(w.step);
  const double share = (mean - std::min(first, last)) * static_cast<double>(w.step.size()) / w.ms;
  if (share < kOfImportance) return std::nullopt;
  const std::vector<double> blocks = block_means(w.step), logs = logs_of(w.step);
  const double tau = kendalls_tau(blocks);
  Noise noise(logs, std::max(kNeighbours, neighbour_correlation(logs)));
  std::vector<double> drawn(logs.size());
  const double p = chance_of(std::abs(tau), [&] {
    std::ranges::transform(noise.next(), drawn.begin(), [](double log) { return std::exp(log); });
    return std::abs(kendalls_tau(block_means(drawn)));
  });
  if (p > kLevel) return std::nullopt;
  const double moved = theil_sen_slope(blocks) * static_cast<double>(blocks.size()) / mean;
  const char* const what = last > first ? "slower" : "faster";
  return Pattern{
      "drift",
      format(
          "first third %.4g ms a step, last third %.4g ms; Mann-Kendall tau %+.2f of %zu blocks, "
          "p <= %.2g; Theil-Sen %+.1f %% over the window; %.1f %% of it",
          first, last, tau, blocks.size(), p, 100 * moved, 100 * share),
      format("The steps become %s over the window, so its mean rate held at no time. Usually a "
             "cache that fills or overflows, clocks that fall with heat, or another program. Look "
             "at the monitors, and measure longer, until the rate stays.",
             what)};
}

}  // namespace feedrate::judge
