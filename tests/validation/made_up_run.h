#pragma once
#include <cmath>
#include <random>
#include <vector>

namespace feedrate::tests {

// Step times of a made-up run whose true throughput is known: log-normal (skewed), correlated from
// step to step, and once in a while a step that takes long. Their expectation is `mean_seconds`.
struct MadeUpRun {
  double mean_seconds = 0.1;
  double spread = 0.2;        // standard deviation of the logarithm
  double correlation = 0.5;   // of neighbours
  double spike_share = 0.01;  // of steps, which take
  double spike_times = 5;     // as long

  template <typename Engine>
  std::vector<double> draw(int steps, Engine& engine) const {
    const double usual =
        mean_seconds / std::exp(spread * spread / 2) / (1 + spike_share * (spike_times - 1));
    std::normal_distribution<double> normal;
    std::bernoulli_distribution spike(spike_share);
    std::vector<double> seconds;
    double noise = normal(engine);
    for (int i = 0; i < steps; ++i) {
      noise = correlation * noise + std::sqrt(1 - correlation * correlation) * normal(engine);
      seconds.push_back(usual * std::exp(spread * noise) * (spike(engine) ? spike_times : 1));
    }
    return seconds;
  }
};

}  // namespace feedrate::tests
