#include "judge/gpu_search.h"

#include <algorithm>
#include <utility>

namespace feedrate::judge {
namespace {

constexpr double kWorkingFell = 0.95;  // of what fewer GPUs were delivered

std::vector<double> utilisations_of(const std::vector<GpusRun>& runs) {
  std::vector<double> all;
  for (const GpusRun& run : runs) all.push_back(run.utilisation);
  return all;
}

// How many GPUs work at the share on what keeps `gpus` of them at a lower `utilisation`.
int fed_by_as_much(double utilisation, int gpus, double share) {
  constexpr double kRounding = 1e-9;  // 5 GPUs at just the share are 5
  return static_cast<int>(std::max(0.0, utilisation) * gpus / share + kRounding);
}

}  // namespace

GpuSearch::GpuSearch(std::vector<double> shares, Limits limits)
    : shares_(std::move(shares)), limits_(limits) {}

void GpuSearch::add(int gpus, const GpusRun& run) { runs_[gpus].push_back(run); }

double GpuSearch::utilisation(int gpus) const {
  return measure::summarise(utilisations_of(runs_.at(gpus))).median;
}

std::optional<measure::Interval> GpuSearch::ci95(int gpus) const {
  const std::vector<GpusRun>& runs = runs_.at(gpus);
  if (runs.size() == 1) return runs.front().ci95;
  const std::vector<double> utilisations = utilisations_of(runs);
  const double mean = measure::mean_of(utilisations), half = measure::t_half_width(utilisations);
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
  const int pointed_at = fed_by_as_much(utilisation(*bracket.starved), *bracket.starved, share);
  return std::clamp(pointed_at, bracket.fed + 1, *bracket.starved - 1);
}

bool GpuSearch::is_known_well(int gpus) const {
  const auto found = runs_.find(gpus);
  return found != runs_.end() && static_cast<int>(found->second.size()) >= limits_.repetitions;
}

bool GpuSearch::starves_below_a_fed_one(int gpus) const {
  return std::ranges::any_of(shares_, [&](double share) {
    return utilisation(gpus) < share &&
           std::any_of(
               runs_.upper_bound(gpus), runs_.end(),
               [&](const auto& more) { return utilisation(more.first) >= share; });
  });
}

// A number of GPUs whose runs contradict another number's, and may be repeated.
std::optional<int> GpuSearch::doubtful() const {
  double most_working = 0;
  for (const auto& [gpus, runs] : runs_) {
    const double working = gpus * utilisation(gpus);  // as many GPUs' rate is delivered
    const bool fell = working < kWorkingFell * most_working;
    if ((fell || starves_below_a_fed_one(gpus)) && !is_known_well(gpus)) return gpus;
    most_working = std::max(most_working, working);
  }
  return std::nullopt;
}

std::optional<int> GpuSearch::next() const {
  if (limits_.most < 1) return std::nullopt;
  if (runs_.empty()) return std::clamp(limits_.start, 1, limits_.most);
  if (const auto gpus = doubtful()) return gpus;
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

// Of a run too short for an interval its utilisation alone.
measure::Interval GpuSearch::known_interval(int gpus) const {
  const double median = utilisation(gpus);
  return ci95(gpus).value_or(measure::Interval{median, median});
}

int GpuSearch::least_fed(const Bracket& bracket, double share) const {
  int least = 0;
  for (auto run = runs_.begin(); run != runs_.upper_bound(bracket.fed); ++run) {
    const int gpus = run->first;
    const double low = known_interval(gpus).low;
    least = std::max(least, low >= share ? gpus : fed_by_as_much(low, gpus, share));
  }
  return least;
}

// Up to the first number that surely starves.
int GpuSearch::most_fed(const Bracket& bracket, double share) const {
  int most = bracket.fed;
  for (auto run = runs_.upper_bound(bracket.fed); run != runs_.end(); ++run) {
    const int gpus = run->first;
    const double high = known_interval(gpus).high;
    if (high < share)
      return std::clamp(fed_by_as_much(high, gpus, share), most, std::max(most, gpus - 1));
    most = gpus;
  }
  return most;
}

GpusFed GpuSearch::fed(double share) const {
  const Bracket found = bracket(share);
  return {.gpus = found.fed,
          .low = least_fed(found, share),
          .high = most_fed(found, share),
          .at_least = !found.starved};
}

}  // namespace feedrate::judge
