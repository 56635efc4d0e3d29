#include "diagnose/patterns.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "base/text.h"
#include "measure/statistics.h"

namespace feedrate::diagnose {
namespace {

using Series = std::span<const double>;
using std::size_t;

constexpr size_t kFewestSteps = 20;
constexpr double kLevel = kFalseAlarms / 6;  // of each pattern
constexpr double kNeighbours = 0.3;          // correlation that noise may have

double sum_of(Series x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double mean_of(Series x) { return x.empty() ? 0 : sum_of(x) / static_cast<double>(x.size()); }

double squares_around(Series x, double middle) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [=](double sum, double v) { return sum + (v - middle) * (v - middle); });
}

// One tail alone: durations are skewed, and a few long ones would hide the rest. A step of no time
// has no logarithm; it counts as a hundredth of the mean.
std::vector<double> logs_of(Series x) {
  const double least = mean_of(x) / 100;
  std::vector<double> logs;
  for (const double v : x) logs.push_back(std::log(std::max(v, least)));
  return logs;
}

// Of neighbouring values, around the means of the thirds: a slow change is no correlation.
double neighbour_correlation(Series x) {
  std::vector<double> off;
  for (size_t third = 0; third < 3; ++third) {
    const size_t from = third * x.size() / 3, to = (third + 1) * x.size() / 3;
    const double level = mean_of(x.subspan(from, to - from));
    for (size_t i = from; i < to; ++i) off.push_back(x[i] - level);
  }
  double products = 0;
  for (size_t i = 1; i < off.size(); ++i) products += off[i] * off[i - 1];
  const double squares = squares_around(off, 0);
  return squares > 0 ? products / squares : 0;
}

// Series like a given one, of noise alone of that correlation: its residuals in another order.
class Noise {
 public:
  Noise(Series like, double correlation)
      : correlation_(std::min(correlation, 0.9)), middle_(mean_of(like)) {
    for (size_t i = 0; i < like.size(); ++i) {
      const double off = like[i] - middle_;
      residuals_.push_back(i == 0 ? off * first() : off - correlation_ * (like[i - 1] - middle_));
    }
    series_.resize(like.size());
  }
  Series next() {
    shuffle(residuals_, ++draws_);
    double off = residuals_.front() / first();
    series_.front() = middle_ + off;
    for (size_t i = 1; i < series_.size(); ++i)
      series_[i] = middle_ + (off = correlation_ * off + residuals_[i]);
    return series_;
  }

 private:
  double first() const { return std::sqrt(1 - correlation_ * correlation_); }

  double correlation_, middle_;
  std::vector<double> residuals_, series_;
  std::uint64_t draws_ = 0;  // the seed, too
};

// The p value of a statistic: how often `draw` reaches it. The fourth time says enough: the value
// is above kLevel then, whatever follows.
template <typename Draw>
double chance_of(double statistic, Draw draw) {
  constexpr int kDraws = 1999, kEnough = 4;
  static_assert(kEnough > kLevel * kDraws);
  const double reached_from = statistic - 1e-9 * std::abs(statistic);  // rounding is no difference
  int reached = 0;
  for (int i = 1; i <= kDraws; ++i) {
    if (draw() >= reached_from && ++reached == kEnough) return kEnough / static_cast<double>(i);
  }
  return (reached + 1.0) / (kDraws + 1);
}

// What all patterns are looked for in.
struct Window {
  Series step, wait, idle;  // wait and idle: empty where unknown
  double ms = 0;            // of all steps, a slow start included
};

// ------------------------------------------------------------------------------- slow start

// How far the first steps lie above the rest, in standard errors: the largest over their number,
// up to `most`.
struct Split {
  size_t steps = 0;
  double t = 0;
};
Split first_steps_above(Series x, size_t most) {
  const auto n = static_cast<double>(x.size());
  const double mean = mean_of(x), sd = std::sqrt(squares_around(x, mean) / n);
  Split best;
  if (sd <= 0) return best;
  double above = 0;
  for (size_t i = 0; i < most; ++i) {
    above += x[i] - mean;
    const double k = static_cast<double>(i) + 1;
    const double t = above / (sd * std::sqrt(k * (n - k) / n));
    if (t > best.t) best = {i + 1, t};
  }
  return best;
}

struct SlowStart {
  size_t steps = 0;
  Pattern pattern;
};
std::optional<SlowStart> slow_start_of(const Window& w) {
  const std::vector<double> logs = logs_of(w.step);
  const size_t n = logs.size(), most = n / 4;
  const Split split = first_steps_above(logs, n - 1);
  if (split.steps == 0 || split.steps > most) return std::nullopt;
  const double head = mean_of(w.step.first(split.steps)),
               rest = mean_of(w.step.subspan(split.steps));
  const double share = static_cast<double>(split.steps) * (head - rest) / w.ms;
  if (share < kOfImportance) return std::nullopt;
  Noise noise(logs, std::max(kNeighbours, neighbour_correlation(Series(logs).subspan(most))));
  const double p = chance_of(split.t, [&] { return first_steps_above(noise.next(), most).t; });
  if (p > kLevel) return std::nullopt;
  return SlowStart{
      split.steps,
      {"slow_start",
       format("first %zu of %zu steps: mean %.4g ms, then %.4g ms; t %.1f, p <= %.2g; %.1f %% of "
              "the window",
              split.steps, n, head, rest, split.t, p, 100 * share),
       format("The first %zu steps of the window take %.2g times as long as the rest. The warm-up "
              "was too short: caches, clocks or the queue had not come to rest. Look at the steps "
              "of the warm-up, and give it more of them.",
              split.steps, head / rest)}};
}

// ------------------------------------------------------------------------------------ drift

std::vector<double> block_means(Series x) {
  const size_t blocks = std::clamp<size_t>(x.size() / 5, 10, 60);
  std::vector<double> means;
  for (size_t b = 0; b < blocks; ++b) {
    const size_t from = b * x.size() / blocks, to = (b + 1) * x.size() / blocks;
    means.push_back(mean_of(x.subspan(from, to - from)));
  }
  return means;
}

// Pairs that rise less pairs that fall, as a share of all: Kendall's tau against the order.
double kendalls_tau(Series x) {
  int rises = 0, pairs = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j, ++pairs) rises += (x[j] > x[i]) - (x[j] < x[i]);
  }
  return pairs == 0 ? 0 : static_cast<double>(rises) / pairs;
}

// The median slope of all pairs, from one value to the next.
double theil_sen_slope(Series x) {
  std::vector<double> slopes;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j)
      slopes.push_back((x[j] - x[i]) / static_cast<double>(j - i));
  }
  return measure::summarise(slopes).median;
}

std::optional<Pattern> drift_of(const Window& w) {
  const size_t third = w.step.size() / 3;
  const double first = mean_of(w.step.first(third)), last = mean_of(w.step.last(third)),
               mean = mean_of(w.step);
  const double share = (mean - std::min(first, last)) * static_cast<double>(w.step.size()) / w.ms;
  if (share < kOfImportance) return std::nullopt;
  const std::vector<double> blocks = block_means(w.step), logs = logs_of(w.step);
  const double tau = kendalls_tau(blocks);
  Noise noise(logs, std::max(kNeighbours, neighbour_correlation(logs)));
  std::vector<double> drawn(logs.size());
  const double p = chance_of(std::abs(tau), [&] {
    std::ranges::transform(noise.next(), drawn.begin(), [](double log) { return std::exp(log); });
    return std::abs(kendalls_tau(block_means(drawn)));
  });
  if (p > kLevel) return std::nullopt;
  const double moved = theil_sen_slope(blocks) * static_cast<double>(blocks.size()) / mean;
  const char* const what = last > first ? "slower" : "faster";
  return Pattern{
      "drift",
      format(
          "first third %.4g ms a step, last third %.4g ms; Mann-Kendall tau %+.2f of %zu blocks, "
          "p <= %.2g; Theil-Sen %+.1f %% over the window; %.1f %% of it",
          first, last, tau, blocks.size(), p, 100 * moved, 100 * share),
      format("The steps become %s over the window, so its mean rate held at no time. Usually a "
             "cache that fills or overflows, clocks that fall with heat, or another program. Look "
             "at the monitors, and measure longer, until the rate stays.",
             what)};
}

// ----------------------------------------------------------------------------------- spikes

constexpr size_t kLongestPeriod = 64;
constexpr size_t kTimes = 5;           // that a period has to come
constexpr size_t kStepsFolded = 4096;  // more of them cost time and show nothing new

// The steps laid over each other with a period: means of its phases.
std::vector<double> phase_means(Series x, size_t period) {
  std::vector<double> sums(period, 0);
  for (size_t at = 0; at < x.size(); at += period) {
    const size_t length = std::min(period, x.size() - at);
    for (size_t i = 0; i < length; ++i) sums[i] += x[at + i];
  }
  for (size_t i = 0; i < period; ++i)
    sums[i] /= static_cast<double>(x.size() / period + (i < x.size() % period ? 1 : 0));
  return sums;
}

// How much more the phases differ than those of noise, in standard deviations of chi-square.
double between_phases(Series x, size_t period, double mean, double variance) {
  double squares = 0;
  const std::vector<double> phases = phase_means(x, period);
  for (size_t i = 0; i < period; ++i) {
    const auto count = static_cast<double>(x.size() / period + (i < x.size() % period ? 1 : 0));
    squares += count * (phases[i] - mean) * (phases[i] - mean);
  }
  const auto degrees = static_cast<double>(period - 1);
  return (squares / variance - degrees) / std::sqrt(2 * degrees);
}

struct Period {
  size_t steps = 0;
  double z = 0;
};
Period strongest_period(Series x, size_t of_workers) {
  const double mean = mean_of(x),
               variance = squares_around(x, mean) / static_cast<double>(x.size());
  Period best;
  if (variance <= 1e-12) return best;
  const auto look_at = [&](size_t period) {
    const double z = between_phases(x, period, mean, variance);
    if (z > best.z) best = {period, z};
  };
  const size_t longest = x.size() / kTimes;
  for (size_t period = 2; period <= std::min(longest, kLongestPeriod); ++period) look_at(period);
  if (of_workers > kLongestPeriod && of_workers <= longest) look_at(of_workers);
  return best;
}

std::string why_spikes(size_t period, const StepsSeen& seen) {
  const auto workers = static_cast<size_t>(std::max(seen.workers, 0));
  if (period == workers && seen.loader == "batch") {
    return "That is the number of workers: they finish their batches at about the same time, and "
           "the device then waits for the next round. The loader is too slow. Look at the largest "
           "stage of the loader; more workers make the rhythm longer, and the waits rarer.";
  }
  if (period == workers) {
    return "That is the number of workers, though this loader shares a batch among them. Look for "
           "what each worker does once in so many batches.";
  }
  const std::string not_workers =
      workers > 0 ? format("That is not the number of workers (%zu). ", workers) : "";
  return not_workers +
         "Usually something that is done every so many steps: the next shard, a log, a garbage "
         "collection, another rank. Look at what lies at these steps in a trace.";
}

// The correlation of what a rhythm leaves: spikes themselves make neighbours unlike. One below 0
// counts here, too: it makes short periods likely.
double correlation_without(Series x, size_t period) {
  const std::vector<double> phases = phase_means(x, period);
  std::vector<double> rest;
  for (size_t i = 0; i < x.size(); ++i) rest.push_back(x[i] - phases[i % period]);
  return std::max(-0.9, neighbour_correlation(rest));
}

struct Spikes {
  size_t period = 0, long_phases = 0;
  Pattern pattern;
};
std::optional<Spikes> spikes_of(const Window& w, const StepsSeen& seen) {
  const auto workers = static_cast<size_t>(std::max(seen.workers, 0));
  const Series steps = w.step.first(std::min(w.step.size(), kStepsFolded));
  const std::vector<double> logs = logs_of(steps);
  const Period found = strongest_period(logs, workers);
  if (found.steps == 0) return std::nullopt;
  std::vector<double> phases = phase_means(w.step, found.steps);
  std::ranges::sort(phases);
  const double others = phases[(phases.size() - 1) / 2], longest = phases.back();
  double beyond = 0;
  for (const double phase : phases) beyond += std::max(0.0, phase - others);
  const double share =
      beyond * static_cast<double>(w.step.size()) / static_cast<double>(found.steps) / w.ms;
  if (share < kOfImportance) return std::nullopt;
  Noise noise(logs, correlation_without(logs, found.steps));
  const double p = chance_of(found.z, [&] { return strongest_period(noise.next(), workers).z; });
  if (p > kLevel) return std::nullopt;
  const measure::Summary summary = measure::summarise(w.step);
  const auto long_phases = static_cast<size_t>(
      std::ranges::count_if(phases, [=](double phase) { return phase > (others + longest) / 2; }));
  return Spikes{
      found.steps,
      long_phases,
      {"spikes",
       format("period %zu steps, %d workers; the longest phase %.4g ms, the median phase %.4g ms; "
              "mean step %.4g ms, median %.4g ms; z %.1f, p <= %.2g; %.1f %% of the window",
              found.steps, seen.workers, longest, others, summary.mean, summary.median, found.z, p,
              100 * share),
       format("Once every %zu steps a step takes %.2g times as long as the others; a median does "
              "not show it. ",
              found.steps, longest / std::max(others, 1e-9)) +
           why_spikes(found.steps, seen)}};
}

// ----------------------------------------------------------------------------------- bursts

// P(X >= least) of a binomial.
double binomial_tail(int least, int n, double p) {
  if (p >= 1) return 1;
  double sum = 0;
  for (int k = std::max(least, 0); k <= n; ++k) {
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                    k * std::log(p) + (n - k) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

// Long waits, one after the other.
struct LongWaits {
  int waits = 0, runs = 0;        // runs of one or more
  int bursts = 0;                 // runs of kBurst or more
  double in_bursts_ms = 0;        // waited in them, beyond the mean wait
  int followed = 0, by_long = 0;  // long waits that are not the last step, and followed by another
};
LongWaits long_waits_of(Series wait) {
  constexpr size_t kBurst = 3;
  const double mean = mean_of(wait);
  LongWaits found;
  for (size_t from = 0, to = 0; from < wait.size(); from = to + 1) {
    to = from;
    double beyond = 0;
    while (to < wait.size() && wait[to] > mean) beyond += wait[to++] - mean;
    const auto length = static_cast<int>(to - from);
    if (length == 0) continue;
    found.waits += length;
    ++found.runs;
    found.by_long += length - 1;
    found.followed += to < wait.size() ? length : length - 1;
    if (to - from >= kBurst) ++found.bursts, found.in_bursts_ms += beyond;
  }
  return found;
}

std::optional<Pattern> bursts_of(const Window& w, const StepsSeen& seen) {
  constexpr int kSeveral = 3;
  const LongWaits found = long_waits_of(w.wait);
  if (found.bursts < kSeveral) return std::nullopt;
  const double length = static_cast<double>(found.waits) / found.runs;
  // A host that runs ahead waits although the device has work: no more is lost than the device
  // waits.
  const double lost =
      w.idle.empty() ? found.in_bursts_ms : std::min(found.in_bursts_ms, sum_of(w.idle));
  if (length < 2 || lost / w.ms < kOfImportance) return std::nullopt;
  const double share = static_cast<double>(found.waits) / static_cast<double>(w.wait.size());
  const double p = binomial_tail(found.by_long, found.followed, share + kNeighbours * (1 - share));
  if (p > kLevel) return std::nullopt;
  return Pattern{
      "bursts",
      format("%d bursts of three or more; runs of long waits hold %.1f steps, by chance %.1f; %d "
             "of %d long waits are followed by one, p <= %.1g; %.1f %% of the window",
             found.bursts, length, 1 / (1 - share), found.by_long, found.followed, p,
             100 * lost / w.ms),
      format("Long waits come several in a row (%.1f on average), then none. Usually the supply "
             "stops for a while: storage that stalls, a cache that is written back, another "
             "program. Look at storage and CPU pressure at these moments; a prefetch (now %d) that "
             "holds a whole burst hides it.",
             length, seen.prefetch)};
}

// --------------------------------------------------------------------------- desynchronised

// Waits laid on a circle of one round of the workers: their sum, and that of their vectors.
struct Round {
  double wait = 0;
  std::complex<double> vector;
  Round& operator+=(const Round& other) {
    wait += other.wait;
    vector += other.vector;
    return *this;
  }
  // Mean resultant length: 1 if all waiting is at one worker, 0 if spread evenly.
  double r() const { return wait > 0 ? std::abs(vector) / wait : 0; }
};

std::vector<Round> rounds_of(Series wait, size_t workers) {
  std::vector<Round> rounds;
  for (size_t at = 0; at + workers <= wait.size(); at += workers) {
    Round& round = rounds.emplace_back();
    for (size_t i = 0; i < workers; ++i) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(workers);
      round += {wait[at + i], std::polar(wait[at + i], angle)};
    }
  }
  return rounds;
}

constexpr double kClear = 0.5;  // r of a rhythm worth the word
constexpr size_t kRoundsOfABlock = 4, kFewestBlocks = 4, kMostBlocks = 24;

// None where there are too few.
std::vector<Round> blocks_of(std::span<const Round> rounds) {
  const size_t count = std::min(rounds.size() / kRoundsOfABlock, kMostBlocks);
  if (count < kFewestBlocks) return {};
  std::vector<Round> blocks(count);
  for (size_t i = 0; i < rounds.size(); ++i) blocks[i * count / rounds.size()] += rounds[i];
  return blocks;
}

// Root mean square of the blocks' r, each block with the weight of its waiting.
double local_r(std::span<const Round> blocks) {
  double squares = 0, wait = 0;
  for (const Round& block : blocks)
    squares += block.r() * block.r() * block.wait, wait += block.wait;
  return wait > 0 ? std::sqrt(squares / wait) : 0;
}

std::optional<Pattern> desynchronised_of(const Window& w, const StepsSeen& seen) {
  if (seen.loader != "batch" || seen.workers < 2) return std::nullopt;
  std::vector<Round> rounds = rounds_of(w.wait, static_cast<size_t>(seen.workers));
  const std::vector<Round> blocks = blocks_of(rounds);
  if (blocks.empty()) return std::nullopt;
  Round all;
  double with_rhythm_ms = 0;
  for (const Round& block : blocks) all += block, with_rhythm_ms += block.wait * block.r();
  const double local = local_r(blocks);
  const double lost = w.idle.empty() ? with_rhythm_ms : std::min(with_rhythm_ms, sum_of(w.idle));
  if (lost / w.ms < kOfImportance) return std::nullopt;
  const std::span<const Round> in_order(blocks);
  const double first = local_r(in_order.first(blocks.size() / 3)),
               last = local_r(in_order.last(blocks.size() / 3));
  const bool fades = first >= kClear && last < first / 2,
             wanders = local >= kClear && all.r() < 0.7 * local;
  if (!fades && !wanders) return std::nullopt;
  std::uint64_t seed = 0;
  const double p = chance_of(local, [&] {
    shuffle(rounds, ++seed);
    return local_r(blocks_of(rounds));
  });
  if (p > kLevel) return std::nullopt;
  return Pattern{
      "desynchronised",
      format("R of waits on a round of %d workers: %.2f within blocks of %zu rounds, %.2f over the "
             "window; first third %.2f, last third %.2f; p <= %.2g; %.1f %% of the window",
             seen.workers, local, rounds.size() / blocks.size(), all.r(), first, last, p,
             100 * lost / w.ms),
      std::string("The device waits once a round of the workers, but the rhythm ") +
          (fades ? "fades: long waits become short ones, spread evenly. "
                 : "wanders from one worker to the next. ") +
          "The workers have fallen out of step. The loader is as slow as before, only the waits "
          "lie elsewhere: judge it by means over whole rounds, and look at its largest stage."};
}

// ----------------------------------------------------------------------------- uneven waits

std::optional<Pattern> uneven_waits_of(const Window& w, const StepsSeen& seen) {
  constexpr double kEnough = 1.05, kWaits = 0.05, kHalf = 0.5;
  const double idle_ms = sum_of(w.idle), busy_ms = sum_of(w.step) - idle_ms;
  if (w.idle.empty() || idle_ms / w.ms < kWaits || busy_ms <= 0) return std::nullopt;
  const auto n = static_cast<double>(w.idle.size());
  const double demand = 1e3 * seen.batch_size * n / busy_ms;
  if (seen.loader_imgs_per_s < kEnough * demand) return std::nullopt;
  std::vector<double> sorted(w.idle.begin(), w.idle.end());
  std::ranges::sort(sorted);
  const double in_longest = sum_of(Series(sorted).last(sorted.size() / 20)) / idle_ms;
  if (in_longest < kHalf) return std::nullopt;
  const double variation = std::sqrt(squares_around(w.idle, idle_ms / n) / n) / (idle_ms / n);
  return Pattern{
      "uneven_waits",
      format("the device waits %.1f %% of the time; the longest 5 %% of the waits hold %.0f %% of "
             "it; coefficient of variation %.1f; the loader could deliver %.0f img/s, the device "
             "takes %.0f img/s",
             100 * idle_ms / w.ms, 100 * in_longest, variation, seen.loader_imgs_per_s, demand),
      format(
          "The loader is fast enough on average, and yet the device waits: a few steps hold most "
          "of the waiting. Usually single samples or reads that take very long. Look at p99 and "
          "max of the reads and at the largest files; a longer queue (prefetch is %d) hides "
          "them, more speed does not.",
          seen.prefetch)};
}

bool are_durations(Series x) {
  return std::ranges::all_of(x, [](double v) { return std::isfinite(v) && v >= 0; });
}

Series known(Series x, size_t steps) { return x.size() == steps ? x : Series{}; }

Window behind(const Window& w, size_t steps) {
  const auto cut = [steps](Series x) { return x.empty() ? x : x.subspan(steps); };
  return {cut(w.step), cut(w.wait), cut(w.idle), w.ms};
}

bool is_of_the_workers(const Spikes& spikes, int workers) {
  const auto w = static_cast<size_t>(std::max(workers, 1));
  return spikes.period % w == 0 || w % spikes.period == 0;
}

// Spikes and a lost rhythm of the workers can look like each other: one spike every 9 steps is
// locally a rhythm of 8 workers that wanders, and such a one may come round after 25 steps, with
// three spikes in them. One spike a period is taken for what it is.
void add_rhythms(std::vector<Pattern>& found, const Window& w, const StepsSeen& seen) {
  const std::optional<Spikes> spikes = spikes_of(w, seen);
  const bool is_other = spikes && !is_of_the_workers(*spikes, seen.workers);
  std::optional<Pattern> lost;
  if (!is_other || spikes->long_phases > 1) lost = desynchronised_of(w, seen);
  if (spikes && !(is_other && lost)) found.push_back(spikes->pattern);
  if (lost) found.push_back(*lost);
}

}  // namespace

std::vector<Pattern> patterns_of(const StepsSeen& seen) {
  const size_t n = seen.step_ms.size();
  Window w{seen.step_ms, known(seen.data_wait_ms, n), known(seen.device_idle_ms, n),
           sum_of(seen.step_ms)};
  if (n < kFewestSteps || !are_durations(w.step) || !are_durations(w.wait) ||
      !are_durations(w.idle) || w.ms <= 0)
    return {};
  std::vector<Pattern> found;
  const auto add = [&found](const std::optional<Pattern>& pattern) {
    if (pattern) found.push_back(*pattern);
  };
  if (const auto start = slow_start_of(w)) {
    found.push_back(start->pattern);
    w = behind(w, start->steps);
  }
  const std::optional<Pattern> drift = drift_of(w);
  add(drift);
  add_rhythms(found, w, seen);
  if (!drift) add(bursts_of(w, seen));
  add(uneven_waits_of(w, seen));
  return found;
}

}  // namespace feedrate::diagnose
