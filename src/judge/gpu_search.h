#pragma once
#include <map>
#include <optional>
#include <vector>

#include "measure/statistics.h"

namespace feedrate::judge {

// One run with so many GPUs: the share of the time in which they worked (accelerator utilisation).
struct GpusRun {
  double utilisation = 0;
  std::optional<measure::Interval> ci95;  // from the steps of this run
};

// The largest number of GPUs whose utilisation is at least a share; 0: not even one's.
struct GpusFed {
  int gpus = 0;
  // 95 %: what the intervals of the utilisations allow, see GpuSearch::ci95(). They may be numbers
  // that were not tried: where N GPUs starve, what is delivered no longer depends on their number,
  // so that an end u of their interval stands for the u * N / share GPUs that the same rate feeds.
  int low = 0, high = 0;
  bool at_least = false;  // nothing larger was tried
};

// Finds how many GPUs are fed, by as few runs as it takes: goes up in steps that double until
// they starve, then goes between the two, to where the rate that was delivered points. The numbers
// at both sides of each answer are measured `repetitions` times, and if that moves an answer the
// search goes on from there.
//
// A storage that stands still for seconds spoils one run. So the median of a number's runs decides,
// and what contradicts another number is measured up to `repetitions` times before it is believed:
// a number that starves although a larger one does not, and one with which less is delivered than
// with fewer GPUs.
//
// A pure state machine: ask next(), measure, add().
class GpuSearch {
 public:
  struct Limits {
    int start = 1, most = 1;  // GPUs
    int repetitions = 1;
  };
  GpuSearch(std::vector<double> shares, Limits limits);

  // The number of GPUs to measure now; nothing: the search is over.
  std::optional<int> next() const;
  void add(int gpus, const GpusRun& run);
  // So many cannot be measured: the search stays below.
  void cannot(int gpus) { limits_.most = gpus - 1; }

  GpusFed fed(double share) const;
  // The smallest number that was tried and starves at the share; none: all that were tried are fed.
  std::optional<int> starved(double share) const { return bracket(share).starved; }
  // The median of the runs with so many GPUs.
  double utilisation(int gpus) const;
  // The 95 % interval of their mean: a t-interval over them, which one spoilt run widens; that of
  // the run's steps where there is one.
  std::optional<measure::Interval> ci95(int gpus) const;
  const std::map<int, std::vector<GpusRun>>& runs() const { return runs_; }

 private:
  struct Bracket {
    int fed = 0;                 // the largest number below `starved` that is fed; 0: none is known
    std::optional<int> starved;  // the smallest that is not
  };
  Bracket bracket(double share) const;
  std::optional<int> within(const Bracket& bracket, double share) const;
  std::optional<int> doubtful() const;
  bool starves_below_a_fed_one(int gpus) const;
  bool is_known_well(int gpus) const;
  measure::Interval known_interval(int gpus) const;
  int least_fed(const Bracket& bracket, double share) const;
  int most_fed(const Bracket& bracket, double share) const;

  std::vector<double> shares_;
  Limits limits_;
  std::map<int, std::vector<GpusRun>> runs_;
};

}  // namespace feedrate::judge
