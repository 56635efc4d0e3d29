#pragma once
#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace feedrate::judge {

// The reads that the loader of one GPU has on their way at once.
struct LoaderReads {
  int workers = 1, depth = 1;  // `depth` of each worker; 0 workers: the training thread reads
  int count() const { return std::max(1, workers) * depth; }
  auto operator<=>(const LoaderReads&) const = default;
};

// Finds how many reads in flight get as much out of a storage as it gives: the depth is doubled
// until it no longer helps, then the workers are. A number of them ends where two doublings in a
// row gain less than 5 % over the best rate; more workers than CPUs are tried only while each
// doubling gains. The smallest number within 5 % of the best rate is taken.
//
// One run that met a storage which stood still is no reason to stop: a rate below 0.9 of what fewer
// reads gave, and that of a doubling which would end the search alone, is measured up to three
// times, and the median counts.
//
// A pure state machine: ask next(), measure, add().
class InFlightSearch {
 public:
  static constexpr double kHelps = 1.05;  // times the best rate before: what gains less does not
  struct Limits {
    LoaderReads start, most;  // alike in what is not searched over
    int cpus = 1;             // that the workers may use
  };
  explicit InFlightSearch(const Limits& limits) : limits_(limits) {}

  // What to measure now; nothing: the search is over.
  std::optional<LoaderReads> next() const;
  void add(const LoaderReads& reads, double imgs_per_s) { runs_[reads].push_back(imgs_per_s); }
  // So many cannot be measured: the search stays below.
  void cannot(const LoaderReads& reads) { refused_.insert(reads); }

  // The following three once something was measured.
  LoaderReads chosen() const;
  double imgs_per_s(const LoaderReads& reads) const;  // median of its runs, of which there are
  // More than what was chosen was tried, and gave less than kHelps of it. Not where some could not
  // be measured.
  bool more_adds_nothing() const;

 private:
  struct Climb {
    std::optional<LoaderReads> next;  // to measure; then the rest is not known yet
    LoaderReads chosen;
    int rungs = 0;            // that were measured
    bool is_flat = false;     // the last of them gained nothing
    bool is_refused = false;  // it ended where more could not be measured
  };
  Climb climb(LoaderReads from, int LoaderReads::* part) const;
  Climb over_depth() const { return climb(limits_.start, &LoaderReads::depth); }
  Climb over_workers() const { return climb(over_depth().chosen, &LoaderReads::workers); }
  bool needs_another_run(const LoaderReads& reads, double best) const;

  const Limits limits_;
  std::map<LoaderReads, std::vector<double>> runs_;
  std::set<LoaderReads> refused_;
};

}  // namespace feedrate::judge
