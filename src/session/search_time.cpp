#include "session/search_time.h"

#include <algorithm>
#include <bit>

#include "session/precise_sweep.h"

namespace feedrate::session {
namespace {

// Beside its shortest warm-up and window: a process starts, files are opened, queues come to rest.
constexpr double kAroundRunS = 1.5;
constexpr int kRunsOfReadsAxis = 5;  // until two doublings gain nothing, where few reads suffice

// It doubles the GPUs, then measures both sides of each answer again. No number is measured more
// often than there are repetitions.
int runs_of_search(int answers, const SearchOptions& options) {
  const int doublings = static_cast<int>(std::bit_width(static_cast<unsigned>(options.most_gpus)));
  return std::min(options.most_gpus * options.repetitions,
                  doublings + 2 * answers * (options.repetitions - 1));
}

double seconds_of(int runs, const run::RunLimits& limits) {
  return runs * (least_seconds(limits) + kAroundRunS);
}

}  // namespace

double expected_search_s(const SearchedCell& searched, int reads_axes, const run::RunLimits& limits,
                         const SearchOptions& options, bool measures_client) {
  const int runs = runs_of_search(/*answers=*/2, options) +
                   (burns_much(searched) ? runs_of_search(/*answers=*/1, options) : 0);
  const int short_runs =
      kRunsOfReadsAxis * reads_axes + (measures_client ? options.repetitions : 0);
  return seconds_of(runs, limits) + seconds_of(short_runs, short_limits(limits));
}

}  // namespace feedrate::session
