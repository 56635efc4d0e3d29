#include "measure/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace feedrate::measure {
namespace {

// P(|T| <= t).
double inside_of_student_t(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(degrees));
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (int k = is_odd ? 2 : 1; k + 1 < degrees; k += 2) {
    term *= cosine * cosine * k / (k + 1);
    sum += term;
  }
  return is_odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

// Half-width: of the interval on the logarithm.
double lower_end_on_logit(double most, double value, double half_width) {
  const double farthest = value * std::exp(-2 * half_width), part = value / most;
  if (part >= 1) return farthest;
  const double logit = std::log(part / std::max(1 - part, 1e-16));
  return std::max(most / (1 + std::exp(half_width / (1 - part) - logit)), farthest);
}

}  // namespace

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Summary summarise(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return {.mean = mean_of(sorted),
          .median = quantile(sorted, 0.5),
          .p95 = quantile(sorted, 0.95),
          .p99 = quantile(sorted, 0.99),
          .max = sorted.back()};
}

double student_t_975(int degrees) {
  static constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                      2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                      2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  if (degrees <= 20) return kTable[std::max(degrees, 1) - 1];
  // Cornish-Fisher expansion in 1/degrees (Abramowitz and Stegun 26.7.5), good to 1e-4 from here
  // on.
  const double z = 1.959964;
  const double n = degrees;
  return z + (z * z * z + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

double student_t(double confidence, int degrees) {
  degrees = std::max(degrees, 1);
  double low = 0, high = 1;
  while (inside_of_student_t(high, degrees) < confidence) low = high, high *= 2;
  while (high - low > 1e-7 * high) {
    const double middle = (low + high) / 2;
    (inside_of_student_t(middle, degrees) < confidence ? low : high) = middle;
  }
  return high;
}

double student_t_below(double t, int degrees) {
  const double inside = inside_of_student_t(std::abs(t), std::max(degrees, 1));
  return t < 0 ? (1 - inside) / 2 : (1 + inside) / 2;
}

Interval widened(const Interval& interval, double fraction) {
  return {interval.low * (1 - fraction), interval.high * (1 + fraction)};
}

Interval cut_at(double most, const Interval& interval, double value) {
  return {interval.low, std::max(interval.low, std::min(interval.high, std::max(most, value)))};
}

Scatter scatter_of(std::span<const double> off) {
  constexpr std::size_t kCorrelatedFrom = 8;
  const auto n = static_cast<double>(off.size());
  double squares = 0, products = 0, before = 0;
  for (const double one : off) {
    squares += one * one;
    products += one * before;
    before = one;
  }
  // The estimate of a correlation from so few blocks is 1/n too small on average. A negative
  // estimate counts as none.
  const double correlation = off.size() >= kCorrelatedFrom && squares > 0
                                 ? std::clamp(products / squares + 1 / n, 0.0, 0.9)
                                 : 0;
  const double inflation = (1 + correlation) / (1 - correlation);
  return {squares, inflation, std::max(2, static_cast<int>((n - 1) / inflation))};
}

std::optional<Interval> block_interval(std::span<const double> step_seconds, double images) {
  constexpr std::size_t kBlocks = 10;
  if (step_seconds.size() < 2 * kBlocks) return std::nullopt;
  const double mean = mean_of(step_seconds);
  if (mean <= 0) return std::nullopt;
  const std::size_t length = step_seconds.size() / kBlocks;
  const auto last = step_seconds.last(kBlocks * length);
  std::array<double, kBlocks> off{};
  for (std::size_t b = 0; b < kBlocks; ++b)
    off[b] = mean_of(last.subspan(b * length, length)) / mean - 1;
  const auto [squares, inflation, degrees] = scatter_of(off);
  const double half =
      student_t_975(degrees) * std::sqrt(squares / (kBlocks - 1) / kBlocks * inflation);
  return Interval{images / mean * std::exp(-half), images / mean * std::exp(half)};
}

double t_half_width(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  return student_t_975(static_cast<int>(values.size()) - 1) * std::sqrt(squares / (n - 1) / n);
}

Estimate estimate_of_rates(std::span<const double> rates, std::optional<double> most) {
  Estimate found = estimate_of_shares(rates, most);
  found.mean = mean_of(rates);
  if (found.ci95) found.ci95->high = std::max(found.ci95->high, found.mean);
  return found;
}

Estimate estimate_of_shares(std::span<const double> shares, std::optional<double> most) {
  constexpr double kNegligible = 0.001;
  std::vector<double> logs;
  for (const double share : shares) logs.push_back(std::log(share));
  Estimate found = estimate_of(logs);
  found.mean = std::exp(found.mean);
  if (!found.ci95) return found;
  const double half = (found.ci95->high - found.ci95->low) / 2;
  found.ci95 = Interval{found.mean * std::exp(-half), found.mean * std::exp(half)};
  if (!most || found.ci95->low > *most * (1 + kNegligible)) return found;
  found.ci95 = cut_at(*most, *found.ci95, found.mean);
  found.ci95->low = lower_end_on_logit(*most, found.mean, half);
  return found;
}

Estimate estimate_of(std::span<const double> values) {
  // Rates are counts over a clock of nanoseconds: repetitions of an emulated device may agree to
  // the last bit, and prove no smaller difference than this.
  constexpr double kResolution = 1e-9;
  Estimate found{.mean = mean_of(values), .ci95 = {}};
  if (values.size() < kLeastRepetitions) return found;
  const double least = kResolution * student_t_975(static_cast<int>(values.size()) - 1);
  const double half = std::max(t_half_width(values), least);
  found.ci95 = Interval{found.mean - half, found.mean + half};
  return found;
}

TrimmedMean trimmed_mean(std::span<const double> values) {
  constexpr double kTrimmed = 0.2;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size(),
                    off = static_cast<std::size_t>(kTrimmed * static_cast<double>(n));
  const std::size_t kept = n - 2 * off;
  TrimmedMean found{.mean = mean_of(std::span(sorted).subspan(off, kept)),
                    .degrees = static_cast<int>(kept) - 1};
  std::fill_n(sorted.begin(), off, sorted[off]);
  std::fill_n(sorted.rbegin(), off, sorted[n - 1 - off]);
  const double mean = mean_of(sorted);
  double squares = 0;
  for (const double x : sorted) squares += (x - mean) * (x - mean);
  const double all = static_cast<double>(n), deviation = std::sqrt(squares / (all - 1));
  found.standard_error = deviation / (static_cast<double>(kept) / all * std::sqrt(all));
  return found;
}

}  // namespace feedrate::measure
