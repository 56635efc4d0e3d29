#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"
#include "session/capacity_search.h"
#include "session/experiment_options.h"

namespace feedrate::cli {

// What --help of `capacity` shows of axes that nobody types.
AxisDefaults shown_capacity_axes();

// Whether the axis was typed: on the command line or in --config.
bool is_axis_typed(const session::ExperimentOptions& experiment, const std::string& axis);

// The cell to search with, of one GPU: what was typed, and the usual values of the other axes,
// which `experiment` holds afterwards. Throws a UsageError.
session::SearchedCell cell_to_search(CLI::App& app, session::ExperimentOptions& experiment);

}  // namespace feedrate::cli
