#include "judge/in_flight_search.h"

#include "measure/statistics.h"

namespace feedrate::judge {
namespace {

constexpr double kRateFell = 0.9;        // of the best rate before
constexpr std::size_t kRepetitions = 3;  // of a run that is not believed by itself
constexpr int kIdleDoublings = 2;

}  // namespace

double InFlightSearch::imgs_per_s(const LoaderReads& reads) const {
  return measure::summarise(runs_.at(reads)).median;
}

bool InFlightSearch::needs_another_run(const LoaderReads& reads, double best) const {
  const auto runs = runs_.find(reads);
  if (runs == runs_.end()) return true;
  return imgs_per_s(reads) < kRateFell * best && runs->second.size() < kRepetitions;
}

// Doubles `part`; the other one stays as it is.
InFlightSearch::Climb InFlightSearch::climb(LoaderReads from, int LoaderReads::* part) const {
  Climb climb{.next = {}, .chosen = from};
  std::vector<LoaderReads> rungs;
  double best = 0;
  int idle = 0;
  for (LoaderReads rung = from;;) {
    if (needs_another_run(rung, best)) {
      climb.next = rung;
      return climb;
    }
    const double rate = imgs_per_s(rung);
    idle = rungs.empty() || rate >= kHelps * best ? 0 : idle + 1;
    best = std::max(best, rate);
    rungs.push_back(rung);
    const int more = std::min(2 * rung.*part, limits_.most.*part);
    const bool are_too_many = part == &LoaderReads::workers && more > limits_.cpus;
    // One doubling alone ends it there: the median of three.
    if (are_too_many && idle == 1 && runs_.at(rung).size() < kRepetitions) {
      climb.next = rung;
      return climb;
    }
    if (more <= rung.*part || idle >= (are_too_many ? 1 : kIdleDoublings)) break;
    rung.*part = more;
    climb.is_refused = refused_.contains(rung);
    if (climb.is_refused) break;
  }
  climb.rungs = static_cast<int>(rungs.size());
  climb.is_flat = idle > 0;
  climb.chosen = *std::ranges::find_if(
      rungs, [&](const LoaderReads& rung) { return kHelps * imgs_per_s(rung) >= best; });
  return climb;
}

std::optional<LoaderReads> InFlightSearch::next() const {
  const Climb depths = over_depth();
  return depths.next ? depths.next : over_workers().next;
}

LoaderReads InFlightSearch::chosen() const {
  const Climb depths = over_depth();
  return depths.next ? limits_.start : over_workers().chosen;
}

bool InFlightSearch::more_adds_nothing() const {
  const Climb depths = over_depth();
  if (depths.next || depths.is_refused) return false;
  const Climb workers = over_workers();
  if (workers.next || workers.is_refused) return false;
  return workers.rungs > 1 ? workers.is_flat : depths.is_flat;
}

}  // namespace feedrate::judge
