#pragma once
#include <optional>
#include <span>

namespace feedrate::measure {

// What is reported of a series of times. Units are those of the input; all zero for an empty
// series.
struct Summary {
  double mean = 0;
  double median = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};
Summary summarise(std::span<const double> values);

// The q-quantile (0..1) with linear interpolation between order statistics (type 7 of Hyndman and
// Fan 1996, numpy's default). `sorted` is ascending and not empty.
double quantile(std::span<const double> sorted, double q);

// 97.5 % quantile of Student's t with `degrees` >= 1 degrees of freedom (two-sided 95 % interval).
double student_t_975(int degrees);

struct Interval {
  double low = 0;
  double high = 0;
};

// 95 % interval of a throughput from the durations of consecutive steps in one run: batch means
// (Law and Kelton) of 10 blocks, a t-interval on the logarithm around images / mean duration, its
// variance inflated by (1 + r) / (1 - r) and its degrees of freedom reduced alike for the
// correlation r of neighbouring blocks, as for a first-order autoregressive series. Nothing for
// fewer than 20 steps. `images` per step; durations in seconds; the result in images per second.
// docs/measuring.md has how often it holds the true value.
std::optional<Interval> block_interval(std::span<const double> step_seconds, double images);

}  // namespace feedrate::measure
