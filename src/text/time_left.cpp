#include "text/time_left.h"

#include <algorithm>

namespace feedrate::text {

void TimeLeft::begin(std::size_t left, double now_s) {
  if (left >= left_) shown_s_ = std::numeric_limits<double>::infinity();
  left_ = left;
  began_s_ = now_s;
}

void TimeLeft::end(bool is_whole, double now_s) {
  if (!is_whole) return;
  ++runs_;
  runs_s_ += now_s - began_s_;
  shown_s_ = std::numeric_limits<double>::infinity();
}

double TimeLeft::at(double now_s) {
  const double least_s = of_runs(least_run_s_, now_s);
  if (!is_known()) return least_s;
  shown_s_ = std::min(shown_s_, of_runs(runs_s_ / static_cast<double>(runs_), now_s));
  return std::max(shown_s_, least_s);
}

// A run that takes longer than the others is about to end.
double TimeLeft::of_runs(double each_s, double now_s) const {
  if (left_ == 0) return 0;
  const double of_this_one = std::max(0.0, each_s - (now_s - began_s_));
  return each_s * static_cast<double>(left_ - 1) + of_this_one;
}

}  // namespace feedrate::text
