#pragma once
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace feedrate::tests {

// Made-up step durations of the kinds that runs show, with noise of 0.5 to 5 % that is correlated
// from step to step, and whether they have come to rest.
struct StepSeries {
  std::string kind;
  bool steady;
  std::vector<double> seconds;
};

inline constexpr const char* kSeriesKinds[] = {"flat",  "ramp",     "late step", "early step",
                                               "decay", "periodic", "spikes"};

inline StepSeries make_series(const std::string& kind, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  const int n = static_cast<int>(uniform(60, 1500));
  const double spread = uniform(0.005, 0.05), correlation = uniform(0, 0.5);
  const double sign = uniform(0, 1) < 0.5 ? -1 : 1, size = uniform(0.15, 0.6), at = uniform(0, 1),
               rest = n / 2.0;
  const double period = uniform(3, std::max(4.0, rest / 6)), depth = uniform(0.05, 0.5),
               height = uniform(2, 30);
  const auto every = static_cast<int>(uniform(2, std::max(3.0, rest / 6)));
  const auto level = [&](int i) -> double {
    const double share = static_cast<double>(i) / n;
    if (kind == "ramp")
      return 1 + sign * (0.2 + 0.5 * at) * share;  // 20 to 70 % up or down over the whole
    if (kind == "late step") return share < 0.56 + 0.36 * at ? 1 : 1 + sign * size;
    if (kind == "early step") return share < 0.05 + 0.42 * at ? 1 + 2 * size : 1;
    if (kind == "decay") return 1 + (1 + 4 * size) * std::exp(-share / (0.02 + 0.05 * at));
    if (kind == "periodic") return 1 + depth * std::sin(2 * M_PI * i / period);
    if (kind == "spikes") return i % every == 0 ? height : 1;
    return 1;
  };
  StepSeries series{kind, kind != "ramp" && kind != "late step", {}};
  std::normal_distribution<double> normal;
  double noise = normal(engine);
  for (int i = 0; i < n; ++i) {
    noise = correlation * noise + std::sqrt(1 - correlation * correlation) * normal(engine);
    series.seconds.push_back(0.1 * level(i) * std::exp(spread * noise));
  }
  return series;
}

}  // namespace feedrate::tests
