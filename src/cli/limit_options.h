#pragma once
#include <CLI/CLI.hpp>

#include "run/window.h"

namespace feedrate::cli {

// How long to measure: the options, and what holds where they were not typed. What --config says
// counts as typed.

// Adds all of them. `limits` must outlive the parse.
void add_limit_options(CLI::App& command, run::RunLimits& limits);

// Adds --stall-seconds alone, to a command that is run by another process (supervised_command.h).
void add_stall_option(CLI::App& command, double& seconds);

// Whoever types one of --min-seconds and --max-seconds means the other to go with it. Throws a
// UsageError where the two contradict each other.
void fit_window_limits(const CLI::App& command, run::RunLimits& limits);

// The limits of `capacity`, whose steps take `step_s`; and what its --help shows of them.
void set_capacity_limits(const CLI::App& command, double step_s, run::RunLimits& limits);
void show_capacity_limits(CLI::App& command);

// The limits of `diagnose`: each run has its part of the budget.
void set_diagnosis_limits(const CLI::App& command, double budget_s, run::RunLimits& limits);

}  // namespace feedrate::cli
