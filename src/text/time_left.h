#pragma once
#include <cstddef>
#include <limits>

namespace feedrate::text {

// How long the runs of a sweep still take, by how long those took that have ended. It is told when
// each begins and ends, in seconds since any moment. While a run goes on, what it
// answers does not rise. When a run has ended it may: that run is known now. It may as well where
// runs were added or one is repeated. The first run's end makes an estimate of a lower bound.
class TimeLeft {
 public:
  // `least_run_s`: no run is shorter.
  explicit TimeLeft(double least_run_s) : least_run_s_(least_run_s) {}

  // `left`: the runs that are left, with this one.
  void begin(std::size_t left, double now_s);
  // `is_whole`: it was measured; one that failed says nothing of the others.
  void end(bool is_whole, double now_s);

  // Whether a whole run has ended; else at() is a lower bound.
  bool is_known() const { return runs_ > 0; }
  double at(double now_s);  // seconds

 private:
  double of_runs(double each_s, double now_s) const;

  const double least_run_s_;
  std::size_t left_ = 0, runs_ = 0;
  double began_s_ = 0, runs_s_ = 0;  // runs_s_: of whole runs, all together
  double shown_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace feedrate::text
