#include "judge/gpu_search.h"

#include <algorithm>
#include <utility>

namespace feedrate::judge {

GpuSearch::GpuSearch(std::vector<double> shares, Limits limits)
    : shares_(std::move(shares)), limits_(limits) {}

void GpuSearch::add(int gpus, const GpusRun& run) { runs_[gpus].push_back(run); }

double GpuSearch::utilisation(int gpus) const {
  const std::vector<GpusRun>& runs = runs_.at(gpus);
  double sum = 0;
  for (const GpusRun& run : runs) sum += run.utilisation;
  return sum / static_cast<double>(runs.size());
}

std::optional<measure::Interval> GpuSearch::ci95(int gpus) const {
  const std::vector<GpusRun>& runs = runs_.at(gpus);
  if (runs.size() == 1) return runs.front().ci95;
  std::vector<double> utilisations;
  for (const GpusRun& run : runs) utilisations.push_back(run.utilisation);
  const double mean = utilisation(gpus), half = measure::t_half_width(utilisations);
  return measure::Interval{mean - half, mean + half};
}

GpuSearch::Bracket GpuSearch::bracket(double share) const {
  Bracket bracket;
  for (const auto& [gpus, runs] : runs_) {
    if (utilisation(gpus) < share) {
      bracket.starved = gpus;
      break;
    }
    bracket.fed = gpus;
  }
  return bracket;
}

// Where GPUs starve, what is delivered no longer depends on their number: so many work all the time
// as the mean number that worked.
std::optional<int> GpuSearch::within(const Bracket& bracket, double share) const {
  if (!bracket.starved || *bracket.starved - bracket.fed <= 1) return std::nullopt;
  const double busy = utilisation(*bracket.starved) * *bracket.starved;
  return std::clamp(static_cast<int>(busy / share), bracket.fed + 1, *bracket.starved - 1);
}

bool GpuSearch::is_known_well(int gpus) const {
  const auto found = runs_.find(gpus);
  return found != runs_.end() && static_cast<int>(found->second.size()) >= limits_.repetitions;
}

std::optional<int> GpuSearch::next() const {
  if (limits_.most < 1) return std::nullopt;
  if (runs_.empty()) return std::clamp(limits_.start, 1, limits_.most);
  for (const double share : shares_) {
    const Bracket found = bracket(share);
    if (found.starved && found.fed == 0 && *found.starved > 1) return *found.starved / 2;
    if (!found.starved && found.fed < limits_.most) {
      const int tried = std::max(0, found.fed - limits_.start) + 1;
      return std::min(limits_.most, limits_.start - 1 + 2 * tried);
    }
    if (const auto between = within(found, share)) return between;
  }
  for (const double share : shares_) {
    const Bracket found = bracket(share);
    if (found.fed > 0 && !is_known_well(found.fed)) return found.fed;
    if (found.starved && !is_known_well(*found.starved)) return *found.starved;
  }
  return std::nullopt;
}

GpusFed GpuSearch::fed(double share) const {
  const Bracket found = bracket(share);
  GpusFed fed{.gpus = found.fed, .low = 0, .high = found.fed, .at_least = !found.starved};
  for (const auto& [gpus, runs] : runs_) {
    const double mean = utilisation(gpus);
    const measure::Interval interval = ci95(gpus).value_or(measure::Interval{mean, mean});
    if (gpus <= found.fed && interval.low >= share) fed.low = gpus;
    if (gpus > found.fed && interval.high >= share) fed.high = gpus;
  }
  return fed;
}

}  // namespace feedrate::judge
