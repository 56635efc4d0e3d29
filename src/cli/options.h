#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plan/cell.h"
#include "plan/suite.h"
#include "run/run_options.h"

namespace feedrate::cli {

// The options that `run` and `sweep` share, as typed. One flag per axis is made from axes().
struct ExperimentOptions {
  std::map<std::string, std::vector<std::string>> axes;  // flags given on the command line
  std::vector<std::string> where;
  std::filesystem::path config;
  std::filesystem::path data;
  std::filesystem::path output;
  bool anonymize = false;
  run::RunOptions run;
};

// Adds them to a subcommand. `options` must outlive the parse.
// `axes`: the heading of the axes in --help.
void add_experiment_options(CLI::App& command, ExperimentOptions& options, const std::string& axes);

// The cells that the flags and --config ask for: the union of the config's [[sweep]] tables (or one
// product where it has none); a flag on the command line overrides the same key everywhere. Values
// of other options in the config are set on `command` where the command line left them. Throws
// UsageError.
std::vector<plan::Cell> cells_of(CLI::App& command, ExperimentOptions& options);

}  // namespace feedrate::cli
