#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plan/cell.h"
#include "plan/suite.h"
#include "session/experiment_options.h"

namespace feedrate::cli {

// Adds them to a subcommand. `options` must outlive the parse.
// `axes`: the heading of the axes in --help. `defaults`: what --help shows of axes for which the
// subcommand has another value than theirs.
void add_experiment_options(CLI::App& command, session::ExperimentOptions& options,
                            const std::string& axes,
                            const std::map<std::string, std::string>& defaults = {});

// Adds --stall-seconds to a command that is carried out aside (aside.h).
void add_stall_option(CLI::App& command, double& seconds);

// Adds --quiet and --verbose, of which one may be given. `more`: what the second one does.
void add_talk_options(CLI::App& command, bool& quiet, bool& verbose, const std::string& more);

// Adds --qualify.
void add_qualify_option(CLI::App& command, bool& qualify);

// The long names of a command's options, without dashes.
std::vector<std::string> option_names(const CLI::App& command);

// Adds --seed, a whole number of at least 0.
void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help);

// One product of axes, and the dataset that its cells read.
struct CellGroup {
  std::vector<plan::Cell> cells;
  std::filesystem::path data;
};

// Those of the config's [[sweep]] tables (or one where it has none), each of which may name a
// `dataset` of its own; a flag on the command line overrides the same key everywhere. Values of
// other options in the config are set on `command` where the command line left them. Throws
// UsageError.
std::vector<CellGroup> cell_groups_of(CLI::App& command, session::ExperimentOptions& options);

// The cells that the flags and --config ask for: the union of the groups, all of one dataset.
std::vector<plan::Cell> cells_of(CLI::App& command, session::ExperimentOptions& options);

}  // namespace feedrate::cli
