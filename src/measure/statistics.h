#pragma once
#include <cstddef>
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

double mean_of(std::span<const double> values);  // of which there is at least one

// 97.5 % quantile of Student's t with `degrees` >= 1 degrees of freedom (two-sided 95 % interval).
double student_t_975(int degrees);
// The t for which P(|T| <= t) is `confidence`, from 0 to less than 1, of Student's t with `degrees`
// degrees of freedom (1 where they are fewer). Abramowitz and Stegun 26.7.3 and 26.7.4, inverted by
// bisection: good to 1e-6 of its value.
double student_t(double confidence, int degrees);

// P(T <= t) of the same distribution. Abramowitz and Stegun 26.7.3 and 26.7.4.
double student_t_below(double t, int degrees);

struct Interval {
  double low = 0;
  double high = 0;
};

// The interval of what may be off by a further `fraction` of itself, up or down.
Interval widened(const Interval& interval, double fraction);

// The interval around `value` without what lies above `most`, which the true value cannot exceed:
// it holds that as often as before (Mandelkern 2002, Statistical Science 17:149). Where `value`
// lies above that itself, by an error of measuring, it ends there.
Interval cut_at(double most, const Interval& interval, double value);

// How far consecutive blocks lie off the whole: the sum of their squares, by how much the
// correlation r of neighbouring blocks inflates a variance, (1 + r) / (1 - r) as for a first-order
// autoregressive series, and the degrees of freedom that leaves. Below 8 blocks nothing is known of
// r: it is 0.
struct Scatter {
  double squares = 0;
  double inflation = 1;
  int degrees = 2;
};
Scatter scatter_of(std::span<const double> off);  // of two blocks at least

// 95 % interval of a throughput from the durations of consecutive steps in one run: batch means
// (Law and Kelton) of 10 blocks, a t-interval on the logarithm around images / mean duration, its
// variance inflated by (1 + r) / (1 - r) and its degrees of freedom reduced alike for the
// correlation r of neighbouring blocks, as for a first-order autoregressive series. Nothing for
// fewer than 20 steps. `images` per step; durations in seconds; the result in images per second.
// docs/measuring.md has how often it holds the true value.
std::optional<Interval> block_interval(std::span<const double> step_seconds, double images);

// Half-width of the 95 % t-interval around the mean of values, of which there are two at least.
double t_half_width(std::span<const double> values);

// A mean over repetitions, and its 95 % interval: a t-interval, from kLeastRepetitions on. One
// value at least. The report has the same definitions (scripts/report/ledger/statistics.py).
struct Estimate {
  double mean = 0;
  std::optional<Interval> ci95;
};
inline constexpr std::size_t kLeastRepetitions = 3;
// The interval is of their logarithms. Of what cannot exceed `most` it ends there, and reaches as
// far down on the logit of value / most as on the logarithm (Lesaffre, Rizopoulos and Tsonaka 2007,
// Biostatistics 8:72), but at most twice as far as there: values that the bound holds up scatter to
// the other side. Where all of it lies above `most`, it stays as it is, and says so.
Estimate estimate_of_rates(std::span<const double> rates, std::optional<double> most = {});
// Geometric mean; the same interval.
Estimate estimate_of_shares(std::span<const double> shares, std::optional<double> most = {});
Estimate estimate_of(std::span<const double> values);  // of the values themselves

// The mean without the largest and smallest fifth of the values, and its standard error: from the
// winsorised variance, for Student's t with `degrees` degrees of freedom (Tukey and McLaughlin
// 1963, Sankhya A 25:331; Yuen 1974, Biometrika 61:165). A value that another program has spoilt
// does not count. Two values at least.
struct TrimmedMean {
  double mean = 0, standard_error = 0;
  int degrees = 1;
};
TrimmedMean trimmed_mean(std::span<const double> values);

}  // namespace feedrate::measure
