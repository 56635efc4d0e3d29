#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>

#include "measure/statistics.h"
#include "tests/validation/made_up_run.h"
#include "tests/validation/validation.h"

namespace feedrate::tests {
namespace {

double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

double covered(int count, double truth,
               const std::function<std::optional<measure::Interval>()>& draw) {
  int held = 0;
  for (int i = 0; i < count; ++i) {
    const auto interval = draw();
    held += interval && interval->low <= truth && truth <= interval->high;
  }
  return 100.0 * held / count;
}

// A t-interval on the logarithm, as the report has it over repetitions.
measure::Interval over_repetitions(const std::vector<double>& rates) {
  const auto n = static_cast<double>(rates.size());
  std::vector<double> logs;
  for (const double rate : rates) logs.push_back(std::log(rate));
  const double mean = sum(logs) / n;
  double squares = 0;
  for (const double x : logs) squares += (x - mean) * (x - mean);
  const double half =
      measure::student_t_975(static_cast<int>(n) - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean - half), std::exp(mean + half)};
}

// The smallest and the largest: what a bootstrap of the median comes to for so few (at n = 5 at
// most 93.75 %).
measure::Interval range_of(const std::vector<double>& rates) {
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  return {*low, *high};
}

}  // namespace

void validate_intervals(int count) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  const MadeUpRun usual;
  const double truth = 1 / usual.mean_seconds;
  std::printf(
      "| over repetitions (%d times; 100 steps each, 1 %% from run to run) | t on the logarithm | "
      "smallest to largest |\n|---|---|---|\n",
      count);
  for (const int repetitions : {2, 3, 5, 6, 10}) {
    const auto draw = [&] {
      std::vector<double> rates;
      for (int r = 0; r < repetitions; ++r)
        rates.push_back(100 / (sum(usual.draw(100, engine)) * std::exp(0.01 * normal(engine))));
      return rates;
    };
    std::printf("| %d | %.1f %% | %.1f %% |\n", repetitions,
                covered(count, truth, [&] { return std::optional(over_repetitions(draw())); }),
                covered(count, truth, [&] { return std::optional(range_of(draw())); }));
  }
  std::printf(
      "\n| within one run (%d times): steps | correlation 0 | 0.3 | 0.6 | 0.9 | 0.3, and 1 %% of "
      "steps take five times as long |\n|---|---|---|---|---|---|\n",
      count);
  for (const int steps : {20, 50, 100, 200, 500, 2000}) {
    std::printf("| %d |", steps);
    for (const auto& [correlation, spikes] :
         {std::pair(0.0, 0.0), {0.3, 0.0}, {0.6, 0.0}, {0.9, 0.0}, {0.3, 0.01}}) {
      const MadeUpRun run{.correlation = correlation, .spike_share = spikes};
      std::printf(" %.1f %% |", covered(count, truth, [&] {
                    return measure::block_interval(run.draw(steps, engine), 1);
                  }));
    }
    std::printf("\n");
  }
}

}  // namespace feedrate::tests
