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
  int low = 0, high = 0;  // 95 %: what the intervals of the utilisations allow
  bool at_least = false;  // nothing larger was tried
};

// Finds how many GPUs are fed, by as few runs as it takes: goes up in steps that double until
// they starve, then goes between the two, to where the rate that was delivered points. The numbers
// at both sides of each answer are measured `repetitions` times. A pure state machine: ask next(),
// measure, add().
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
  // The mean over the runs with so many GPUs, and its interval: a t-interval over them, that of the
  // one run's steps where there is one.
  double utilisation(int gpus) const;
  std::optional<measure::Interval> ci95(int gpus) const;
  const std::map<int, std::vector<GpusRun>>& runs() const { return runs_; }

 private:
  struct Bracket {
    int fed = 0;                 // the largest number below `starved` that is fed; 0: none is known
    std::optional<int> starved;  // the smallest that is not
  };
  Bracket bracket(double share) const;
  std::optional<int> within(const Bracket& bracket, double share) const;
  bool is_known_well(int gpus) const;

  std::vector<double> shares_;
  Limits limits_;
  std::map<int, std::vector<GpusRun>> runs_;
};

}  // namespace feedrate::judge
