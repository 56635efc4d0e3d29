#include "judge/patterns/spikes.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"
#include "judge/patterns/noise.h"
#include "measure/statistics.h"

namespace feedrate::judge {
namespace {

using std::size_t;

constexpr size_t kLongestPeriod = 64;
constexpr size_t kTimes = 5;           // that a period has to come
constexpr size_t kStepsFolded = 4096;  // more of them cost time and show nothing new

// The steps laid over each other with a period: means of its phases.
std::vector<double> phase_means(Series x, size_t period) {
  std::vector<double> sums(period, 0);
  for (size_t at = 0; at < x.size(); at += period) {
    const size_t length = std::min(period, x.size() - at);
    for (size_t i = 0; i < length; ++i) sums[i] += x[at + i];
  }
  for (size_t i = 0; i < period; ++i)
    sums[i] /= static_cast<double>(x.size() / period + (i < x.size() % period ? 1 : 0));
  return sums;
}

// How much more the phases differ than those of noise, in standard deviations of chi-square.
double between_phases(Series x, size_t period, double mean, double variance) {
  double squares = 0;
  const std::vector<double> phases = phase_means(x, period);
  for (size_t i = 0; i < period; ++i) {
    const auto count = static_cast<double>(x.size() / period + (i < x.size() % period ? 1 : 0));
    squares += count * (phases[i] - mean) * (phases[i] - mean);
  }
  const auto degrees = static_cast<double>(period - 1);
  return (squares / variance - degrees) / std::sqrt(2 * degrees);
}

struct Period {
  size_t steps = 0;
  double z = 0;
};
Period strongest_period(Series x, size_t of_workers) {
  const double mean = mean_of(x),
               variance = squares_around(x, mean) / static_cast<double>(x.size());
  Period best;
  if (variance <= 1e-12) return best;
  const auto look_at = [&](size_t period) {
    const double z = between_phases(x, period, mean, variance);
    if (z > best.z) best = {period, z};
  };
  const size_t longest = x.size() / kTimes;
  for (size_t period = 2; period <= std::min(longest, kLongestPeriod); ++period) look_at(period);
  if (of_workers > kLongestPeriod && of_workers <= longest) look_at(of_workers);
  return best;
}

std::string why_spikes(size_t period, const StepsSeen& seen) {
  const auto workers = static_cast<size_t>(std::max(seen.workers, 0));
  if (period == workers && seen.loader == "batch") {
    return "That is the number of workers: they finish their batches at about the same time, and "
           "the device then waits for the next round. The loader is too slow. Look at the largest "
           "stage of the loader; more workers make the rhythm longer, and the waits rarer.";
  }
  if (period == workers) {
    return "That is the number of workers, though this loader shares a batch among them. Look for "
           "what each worker does once in so many batches.";
  }
  const std::string not_workers =
      workers > 0 ? format("That is not the number of workers (%zu). ", workers) : "";
  return not_workers +
         "Usually something that is done every so many steps: the next shard, a log, a garbage "
         "collection, another rank. Look at what lies at these steps in a trace.";
}

// The correlation of what a rhythm leaves: spikes themselves make neighbours unlike. One below 0
// counts here, too: it makes short periods likely.
double correlation_without(Series x, size_t period) {
  const std::vector<double> phases = phase_means(x, period);
  std::vector<double> rest;
  for (size_t i = 0; i < x.size(); ++i) rest.push_back(x[i] - phases[i % period]);
  return std::max(-0.9, neighbour_correlation(rest));
}

}  // namespace

std::optional<Spikes> spikes_of(const Window& w, const StepsSeen& seen) {
  const auto workers = static_cast<size_t>(std::max(seen.workers, 0));
  const Series steps = w.step.first(std::min(w.step.size(), kStepsFolded));
  const std::vector<double> logs = logs_of(steps);
  const Period found = strongest_period(logs, workers);
  if (found.steps == 0) return std::nullopt;
  std::vector<double> phases = phase_means(w.step, found.steps);
  std::ranges::sort(phases);
  const double others = phases[(phases.size() - 1) / 2], longest = phases.back();
  double beyond = 0;
  for (const double phase : phases) beyond += std::max(0.0, phase - others);
  const double share =
      beyond * static_cast<double>(w.step.size()) / static_cast<double>(found.steps) / w.ms;
  if (share < kOfImportance) return std::nullopt;
  Noise noise(logs, correlation_without(logs, found.steps));
  const double p = chance_of(found.z, [&] { return strongest_period(noise.next(), workers).z; });
  if (p > kLevel) return std::nullopt;
  const measure::Summary summary = measure::summarise(w.step);
  const auto long_phases = static_cast<size_t>(
      std::ranges::count_if(phases, [=](double phase) { return phase > (others + longest) / 2; }));
  return Spikes{
      found.steps,
      long_phases,
      {"spikes",
       format("period %zu steps, %d workers; the longest phase %.4g ms, the median phase %.4g ms; "
              "mean step %.4g ms, median %.4g ms; z %.1f, p <= %.2g; %.1f %% of the window",
              found.steps, seen.workers, longest, others, summary.mean, summary.median, found.z, p,
              100 * share),
       format("Once every %zu steps a step takes %.2g times as long as the others; a median does "
              "not show it. ",
              found.steps, longest / std::max(others, 1e-9)) +
           why_spikes(found.steps, seen)}};
}

}  // namespace feedrate::judge
