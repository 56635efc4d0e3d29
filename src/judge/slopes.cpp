#include "judge/slopes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace feedrate::judge {
namespace {

// Pairs may agree by chance, and few of them do: no slope is known better than this.
constexpr double kLeastError = 0.02;

// How many images one delay is shared by: so many are under way at a time in that place.
double images_at_a_time(measure::Place place, bool burns, const Servers& servers) {
  if (place != measure::Place::worker) return servers.images_per_step;
  return burns ? std::min(servers.workers, servers.cpus) : servers.workers;
}

double threshold_of(const Slope& slope) {
  if (slope.place != measure::Place::in_flight) return 0.5;
  const double room = std::log(1 + kDelayShare) / 2, full = -std::log(1 - slope.withheld);
  return std::max(0.5, 1 - room / full);
}

}  // namespace

std::optional<double> Slope::above(double least) const {
  if (degrees < 1) return std::nullopt;
  return measure::student_t_below((slope.mean - least) / standard_error, degrees);
}

measure::Delay delay_of(measure::Place place, bool burns, double imgs_per_s,
                        const Servers& servers) {
  if (place == measure::Place::storage) return {.reads = kDelayShare};
  const double images = images_at_a_time(place, burns, servers);
  return {.ns = std::llround(1e9 * kDelayShare * images / imgs_per_s), .burns = burns};
}

measure::Delay withheld_of(int depth) {
  const double left = std::max(1.0, std::floor(depth / (1 + kDelayShare)));
  return {.withheld = 1 - left / depth};
}

double full_factor(const BlockPair& pair, const Servers& servers) {
  if (pair.place == measure::Place::storage) return 1 + pair.delay.reads;
  if (pair.place == measure::Place::in_flight) return 1 / (1 - pair.delay.withheld);
  return 1 + 1e-9 * static_cast<double>(pair.delay.ns) * pair.off /
                 images_at_a_time(pair.place, pair.delay.burns, servers);
}

std::vector<Slope> slopes_of(std::span<const BlockPair> pairs, const Servers& servers) {
  std::map<std::pair<measure::Place, bool>, std::vector<double>> slopes;
  std::map<std::pair<measure::Place, bool>, double> delays_ms, reads, withheld;
  for (const BlockPair& pair : pairs) {
    if (pair.on <= 0 || pair.off <= 0 || !pair.delay.is_on()) continue;
    const std::pair key{pair.place, pair.delay.burns};
    slopes[key].push_back(std::log(pair.off / pair.on) / std::log(full_factor(pair, servers)));
    delays_ms[key] += 1e-6 * static_cast<double>(pair.delay.ns);
    reads[key] += pair.delay.reads;
    withheld[key] += pair.delay.withheld;
  }
  std::vector<Slope> all;
  for (const auto& [key, values] : slopes) {
    Slope slope{.place = key.first,
                .burns = key.second,
                .delay_ms = delays_ms[key] / static_cast<double>(values.size()),
                .extra_reads = reads[key] / static_cast<double>(values.size()),
                .withheld = withheld[key] / static_cast<double>(values.size()),
                .pairs = values.size(),
                .slope = {.mean = values.front(), .ci95 = std::nullopt}};
    slope.threshold = threshold_of(slope);
    if (values.size() > 1) {
      const measure::TrimmedMean mean = measure::trimmed_mean(values);
      slope.slope.mean = mean.mean;
      slope.standard_error = std::max(kLeastError, mean.standard_error);
      slope.degrees = mean.degrees;
      const double half = measure::student_t_975(mean.degrees) * slope.standard_error;
      if (values.size() >= measure::kLeastRepetitions)
        slope.slope.ci95 = {mean.mean - half, mean.mean + half};
    }
    all.push_back(slope);
  }
  return all;
}

const Slope* slope_of(const std::vector<Slope>& slopes, measure::Place place, bool burns) {
  const auto found = std::ranges::find_if(
      slopes, [&](const Slope& s) { return s.place == place && s.burns == burns; });
  return found == slopes.end() ? nullptr : &*found;
}

}  // namespace feedrate::judge
