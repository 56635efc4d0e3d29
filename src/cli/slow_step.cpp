#include "cli/slow_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "cli/result_text.h"
#include "codec/image.h"
#include "device/registry.h"
#include "measure/steady_state.h"

namespace feedrate::cli {
namespace {

constexpr double kLongRun = 60;  // seconds

// Steps of the shortest warm-up that can tell whether they are steady, and of the window.
double steps_of_a_run(double step_s, const run::RunLimits& limits) {
  const double warmup = std::max(measure::kSteadyNeeds + 1.0, limits.warmup_seconds / step_s);
  return warmup + std::max<double>(limits.min_steps, limits.min_seconds / step_s);
}

// Each of them makes the step faster. `share`: of its time, which a run may take.
std::vector<std::string> shorter(const plan::Cell& cell, double share, bool is_loader) {
  constexpr int kLeastBatch = 2, kSmall = 64;
  std::vector<std::string> ways;
  const int batch = std::stoi(cell["batch-size"].value()),
            fast = std::max(kLeastBatch, static_cast<int>(batch * share));
  if (fast < batch) ways.push_back("--batch-size " + std::to_string(fast));
  const bool trains = device::split_device(cell["device"].value()).first != "emulated";
  if (!trains || is_loader) return ways;
  const codec::PixelSize size = codec::pixel_size_from(cell["input-size"].value());
  if (size.width * size.height > kSmall * kSmall)
    ways.push_back("--input-size " + std::to_string(kSmall));
  if (!cell.is("model", "resnet18")) ways.push_back("--model resnet18");
  return ways;
}

}  // namespace

std::string slow_step_text(const run::RunProgress& progress, const plan::Cell& cell,
                           const run::RunLimits& limits, std::size_t runs) {
  if (progress.steps == 0 || progress.elapsed_s <= 0 || cell.is("page-cache", "cold")) return "";
  const double step_s = progress.elapsed_s / static_cast<double>(progress.steps);
  const double steps = steps_of_a_run(step_s, limits), run_s = steps * step_s;
  const double asked_s = limits.warmup_seconds + limits.min_seconds;
  if (run_s <= std::max(kLongRun, 1.5 * asked_s)) return "";
  const std::vector<std::string> ways =
      shorter(cell, kLongRun / run_s, /*is_loader=*/progress.device_idle > 0.5);
  if (ways.empty()) return "";
  const double all_s = run_s * static_cast<double>(runs);
  return format("a step takes %.2g s here, and a run %d of them: ", step_s,
                static_cast<int>(std::ceil(steps))) +
         (runs == 1 ? "this one takes" : "the " + std::to_string(runs) + " runs take") + " about " +
         duration(all_s) + "; a faster answer: " + listed(ways);
}

}  // namespace feedrate::cli
