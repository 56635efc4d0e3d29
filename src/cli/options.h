#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "session/experiment_options.h"

namespace feedrate::cli {

// Options that several commands have. What they set must outlive the parse.

// Values of axes that a command has instead of the axes' own, where nothing else is said.
using AxisDefaults = std::map<std::string, std::string>;

// Adds what says which cells are measured, how, and for how long. `axes`: the heading of the axes
// in --help; `defaults`: what it shows of them.
void add_experiment_options(CLI::App& command, session::ExperimentOptions& options,
                            const std::string& axes, const AxisDefaults& defaults = {});

// Sets the axes that the command line leaves, unless there is a --config: flags would override it.
void set_defaults(session::ExperimentOptions& options, const AxisDefaults& defaults);

// Adds -o: the folder of the ledger.
void add_output_option(CLI::App& command, std::filesystem::path& output, const std::string& help);

// Adds --quiet and --verbose, of which one may be given. `more`: what the second one does.
void add_verbosity_options(CLI::App& command, session::ExperimentOptions& options,
                           const std::string& more);

// Adds --qualify.
void add_qualify_option(CLI::App& command, bool& qualify);

// The long names of a command's options, without dashes.
std::vector<std::string> option_names(const CLI::App& command);

// "did you mean --workers?", of a name that is none of the command's options: what other programs
// call so, else by its letters. `dashes`: before what is meant. May be empty.
std::string option_meant(const std::string& name, const CLI::App& command,
                         const std::string& dashes = "");

}  // namespace feedrate::cli
