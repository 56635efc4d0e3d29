#include "cli/limit_options.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "session/capacity_search.h"
#include "session/delay_plan.h"

namespace feedrate::cli {
namespace {

// CLI11's own range checks print the largest double in full.
CLI::Validator positive(bool or_0 = false) {
  return CLI::Validator(
      [=](std::string& typed) -> std::string {
        const double value = number_from<double>(typed).value_or(-1);
        if (std::isinf(value) && value > 0) return typed + " has no end";
        if (value > 0 || (value == 0 && or_0)) return "";
        return typed + " is not a number " + (or_0 ? "of at least 0" : "above 0");
      },
      "");
}

// Sets a limit that was not typed.
template <typename Number>
void set_untyped(const CLI::App& command, const char* option, Number& limit, Number value) {
  if (command.count(option) == 0) limit = value;
}

// Many short runs of a search tell more than one long one: each has a few seconds, or as many steps
// as an interval needs.
constexpr double kMaxWarmupSeconds = 2, kMinSeconds = 4;
constexpr double kSteps = session::kWantedSteps, kMoreSeconds = session::kMoreSeconds;

}  // namespace

void add_limit_options(CLI::App& command, run::RunLimits& limits) {
  const auto add = [&](const char* name, auto& limit, const CLI::Validator& bound,
                       const char* help) {
    command.add_option(name, limit, help)
        ->capture_default_str()
        ->check(bound)
        ->group("How long to measure");
  };
  add("--warmup-seconds", limits.warmup_seconds, positive(/*or_0=*/true),
      "shortest warm-up; it ends when the steps are steady");
  add("--max-warmup-seconds", limits.max_warmup_seconds, positive(/*or_0=*/true),
      "longest warm-up, in pairs at most three times --warmup-seconds; then measure, flagged "
      "`unsteady` or `short_warmup`");
  add("--min-seconds", limits.min_seconds, positive(),
      "shortest measured window; in pairs, with the ceiling's blocks and what settles");
  add("--min-steps", limits.min_steps, positive(),
      "fewest steps of the measured window, in pairs of the cell's blocks");
  add("--stall-seconds", limits.stall_seconds, positive(),
      "a read that takes longer ends its cell");
  add("--max-seconds", limits.max_seconds, positive(),
      "longest measured window; one pair is always measured (run, sweep: twice --min-seconds if "
      "that is longer)");
}

void add_stall_option(CLI::App& command, double& seconds) {
  command.add_option("--stall-seconds", seconds, "storage that does nothing for longer ends it")
      ->capture_default_str()
      ->check(positive());
}

void fit_window_limits(const CLI::App& command, run::RunLimits& limits) {
  constexpr double kLongest = 2;  // times the shortest: for a queue that comes to rest late
  const CLI::Option &least = *command.get_option("--min-seconds"),
                    &most = *command.get_option("--max-seconds");
  if (least.count() > 0 && most.count() > 0 && limits.min_seconds > limits.max_seconds)
    throw UsageError("--max-seconds " + most.as<std::string>(),
                     "is shorter than --min-seconds " + least.as<std::string>(),
                     "give only one of them, or a longest window that the shortest fits into");
  set_untyped(command, "--max-seconds", limits.max_seconds,
              std::max(limits.max_seconds, kLongest * limits.min_seconds));
  set_untyped(command, "--min-seconds", limits.min_seconds,
              std::min(limits.min_seconds, limits.max_seconds / kLongest));
}

void set_capacity_limits(const CLI::App& command, double step_s, run::RunLimits& limits) {
  const double steps_s = kSteps * step_s;
  set_untyped(command, "--max-warmup-seconds", limits.max_warmup_seconds, kMaxWarmupSeconds);
  set_untyped(command, "--min-seconds", limits.min_seconds, std::max(kMinSeconds, steps_s));
  set_untyped(command, "--max-seconds", limits.max_seconds,
              kMoreSeconds + std::max(limits.min_seconds, steps_s));
}

void show_capacity_limits(CLI::App& command) {
  command.get_option("--max-warmup-seconds")->default_str(format("%g", kMaxWarmupSeconds));
  command.get_option("--min-seconds")->default_str(format("%g, or %g steps", kMinSeconds, kSteps));
  command.get_option("--max-seconds")
      ->default_str(format("%g + min-seconds, or %g steps; up to %g where steps are slow",
                           kMoreSeconds, kSteps, session::SearchOptions{}.slow_window_s));
}

void set_diagnosis_limits(const CLI::App& command, double budget_s, run::RunLimits& limits) {
  const double each = session::ladder_run_s(budget_s);
  set_untyped(command, "--warmup-seconds", limits.warmup_seconds, 0.15 * each);
  set_untyped(command, "--min-seconds", limits.min_seconds, 0.5 * each);
  set_untyped(command, "--min-steps", limits.min_steps, 4);
  // What was typed holds, whatever the budget would have.
  set_untyped(command, "--max-warmup-seconds", limits.max_warmup_seconds,
              std::max(0.35 * each, limits.warmup_seconds));
  set_untyped(command, "--max-seconds", limits.max_seconds,
              std::max(0.75 * each, 1.5 * limits.min_seconds));
}

}  // namespace feedrate::cli
