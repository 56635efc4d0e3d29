#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::judge {

// The steps of one rank's measured window, in order, and what fed them. The three series are of
// the same steps; one that is empty, or has another length than step_ms, was not measured.
struct StepsSeen {
  std::span<const double> step_ms, data_wait_ms, device_idle_ms;
  int batch_size = 1;
  int workers = 0;
  int prefetch = 0;              // batches: of each worker ("batch"), of all ("pool")
  std::string_view loader;       // "batch": worker i % workers makes batch i; "pool"
  double loader_imgs_per_s = 0;  // what its capacity says, for this rank; 0: unknown
};

// Something in the order of the steps that a mean hides.
struct Pattern {
  std::string name;       // "spikes", "bursts", ..., as below
  std::string statistic;  // in numbers
  std::string sentence;   // what it is, what it usually means, what to look at
};

// The patterns of a window, each of which accounts for 3 % of its time or more and is no chance:
// noise alone makes it name anything in 1 % of runs at most (kFalseAlarms, a sixth for each
// pattern: Bonferroni). Noise is a first-order autoregressive series of log-durations, whose
// neighbours are correlated as the steps show it; for slow starts, drifts and bursts by 0.3 at
// least. Its residuals are permuted (the sieve bootstrap: Buehlmann 1997, Bernoulli 3:123; p values
// one draw after the other: Besag and Clifford 1991, Biometrika 78:301), with a fixed seed. So
// equal steps give equal patterns.
//
// slow_start      The first steps take longer. The t statistic of the first k steps against the
//                 rest, the largest over k <= n/4 (a scan for a change point: Hawkins 1977, JASA
//                 72:180); named if no later k has a larger one. All others are looked for behind
//                 it.
// drift           Mann-Kendall's S of 10 to 60 block means (Mann 1945, Econometrica 13:245; Kendall
//                 1975), with the slope of Theil and Sen (Sen 1968, JASA 63:1379). Its share: what
//                 the window would save if all of it ran like the faster of first and last third.
// spikes          Every n-th step is long: the variance between the n phases, as chi-square / sd
//                 (epoch folding: Leahy et al. 1983, ApJ 266:160), the largest over n from 2 to 64
//                 and n = workers, as far as n comes five times. Its share: what the phases take
//                 beyond the median phase.
// bursts          Long waits (beyond the mean) follow each other: how many of them are followed by
//                 one, against the binomial of a two-state Markov chain of correlation 0.3
//                 (Cox and Miller 1965, ch. 3). Not named in a window that drifts.
// desynchronised  "batch" only: waits come once every `workers` steps, but the rhythm wanders or
//                 fades. R of waits on a circle of `workers` steps (Rayleigh's mean resultant
//                 length: Mardia and Jupp 2000, ch. 2), squared, mean over blocks; permuting whole
//                 rounds of the workers keeps a rigid rhythm and none at all, and nothing else.
// uneven_waits    The device waits 5 % or more although the loader's capacity is 5 % above what
//                 the device takes, and the longest 5 % of the waits hold half of all waiting. Of
//                 memoryless waits they hold 0.2; half in 4 of 100,000 windows of 20 steps (Fisher
//                 1929, Proc. R. Soc. A 125:54), and more seldom in longer ones.
//
// Nothing for fewer than 20 steps, or where a step is no finite number.
std::vector<Pattern> patterns_of(const StepsSeen& seen);

inline constexpr double kFalseAlarms = 0.01;   // of runs that are noise alone, at most
inline constexpr double kOfImportance = 0.03;  // of the window's time, at least

}  // namespace feedrate::judge
