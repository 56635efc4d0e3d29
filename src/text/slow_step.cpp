#include "text/slow_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "codec/image.h"
#include "device/registry.h"
#include "device/step_trace.h"
#include "plan/settings.h"
#include "run/pairs.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

constexpr double kLongRun = 60;  // seconds

// Of a run with steps of this length, see run::Window.
struct Duration {
  double needed_s = 0;  // until its steps are steady, and for a window of the least length
  double takes_s = 0;   // it ends by --max-warmup-seconds and --max-seconds, whatever it needs
  double window_s = 0;  // of what it needs, without the warm-up
};

Duration duration_of(double step_s, const run::RunLimits& limits) {
  constexpr int kWarmupSteps = 19, kLeastSteps = 3;  // a window tells when steps are steady
  const double warmup = std::max(limits.warmup_seconds, kWarmupSteps * step_s),
               window = std::max(limits.min_seconds, limits.min_steps * step_s);
  return {warmup + window,
          std::min(warmup, std::max(limits.max_warmup_seconds, kLeastSteps * step_s)) +
              std::min(window, std::max(limits.max_seconds, step_s)),
          window};
}

// How long a run in pairs takes, see run/pairs.h: it makes as many synthetic steps as steps of the
// cell, and each block settles.
Duration duration_in_pairs(double step_s, const plan::CellSettings& settings,
                           const run::RunLimits& limits) {
  constexpr double kOfBothKinds = 8, kLeastWarmup = 3;  // steps
  const run::BlockPlan plan = run::pairs_of(settings, limits, 0, 1);
  const auto settling = static_cast<double>(plan.settling_steps);
  const double pairs = std::max<double>(run::kLeastPairs,
                                        std::ceil(1.0 * limits.min_steps / plan.least_steps)),
               warmup = kOfBothKinds * step_s +
                        std::max(run::longest_warmup_s(limits), kLeastWarmup * step_s),
               blocks = 2 * pairs * (plan.least_steps + settling) * step_s,
               fewest = 2 * (1 + settling) * step_s;
  const double window = std::max(limits.min_seconds, blocks);
  return {warmup + window, warmup + std::min(window, std::max(limits.max_seconds, fewest)), window};
}

// Each of them makes the step faster. `share`: of its time, which a run of a minute may take.
std::vector<std::string> faster_ways(const plan::Cell& cell, double share, bool loader_limits) {
  constexpr int kLeastBatch = 2, kSmall = 64;
  std::vector<std::string> ways;
  const auto [kind, argument] = device::split_device(cell["device"].value());
  if (kind == "emulated" && device::is_trace(argument)) return ways;  // its batch is recorded
  // At most half of it: a little less is no faster answer.
  const int batch = std::stoi(cell["batch-size"].value()),
            fast = std::max(kLeastBatch, static_cast<int>(batch * std::min(share, 0.5)));
  if (fast < batch) ways.push_back("--batch-size " + std::to_string(fast));
  if (kind == "emulated" || loader_limits) return ways;
  const codec::PixelSize size = codec::pixel_size_from(cell["input-size"].value());
  if (size.width * size.height > kSmall * kSmall)
    ways.push_back("--input-size " + std::to_string(kSmall));
  if (!cell.is("model", "resnet18")) ways.push_back("--model resnet18");
  return ways;
}

}  // namespace

std::string slow_step_text(const run::RunProgress& progress, const plan::Cell& cell, bool in_pairs,
                           const run::RunLimits& limits) {
  // One step may be slow by chance, or by what is done once; but not by this much.
  constexpr std::size_t kLeastSteps = 2;
  constexpr double kSlowAnyway = 10;
  const double step_s =
      progress.elapsed_s / static_cast<double>(std::max<std::size_t>(1, progress.steps));
  const bool is_no_measure = progress.steps < kLeastSteps && step_s < kSlowAnyway;
  // Of pairs, only the warm-up's steps follow one another.
  const bool is_apart = in_pairs && progress.phase == run::Phase::measuring;
  if (cell.is("page-cache", "cold") || !progress.settled || is_no_measure || is_apart) return "";
  const Duration run = in_pairs ? duration_in_pairs(step_s, plan::settings_of(cell), limits)
                                : duration_of(step_s, limits);
  const double asked_s = limits.warmup_seconds + limits.min_seconds;
  if (run.needed_s <= std::max(kLongRun, 1.5 * asked_s)) return "";
  const std::vector<std::string> ways =
      faster_ways(cell, kLongRun / run.needed_s, /*loader_limits=*/progress.device_idle > 0.5);
  if (ways.empty()) return "";
  return format("a step takes %.3g s here: this run takes about ", step_s) + duration(run.takes_s) +
         (run.takes_s < run.needed_s
              ? format(", and has too few steps then (--max-seconds %.0f would do)",
                       std::ceil(run.window_s))
              : "") +
         (ways.size() == 1 ? "; faster: " : "; faster, each by itself: ") + listed(ways);
}

}  // namespace feedrate::text
