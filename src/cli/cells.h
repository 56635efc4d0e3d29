#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "cli/stored_size.h"
#include "plan/expand.h"
#include "session/experiment_options.h"

namespace feedrate::cli {

bool is_axis(std::string_view name);

// Whether anything says which cells are meant: a --config or an axis.
bool names_cells(const session::ExperimentOptions& options);

// The values of axes that nobody typed, where the dataset is a folder of the user's own and no kind
// of data is chosen: they name all pictures in it, as a folder or else as tar shards. Empty where
// it holds none, where `gen` made it, and where its storage does not answer within 2 s. Throws as
// only_stored_size().
AxisDefaults own_folder_axes(const session::ExperimentOptions& options);
// For --help: the usual `data` of commands that read a dataset.
inline constexpr const char* kSyntheticUnlessOwn = "synthetic; of a folder of your own auto";
inline constexpr const char* kJpegUnlessOwn = "jpeg; of a folder of your own auto";

// The one size in which the dataset holds the kinds of data that the axes name; nothing where it
// holds several or none, or its storage does not answer within 2 s. Throws an Error where a
// launcher's rank is not answered.
std::optional<StoredSize> only_stored_size(const plan::AxisValues& chosen,
                                           const std::filesystem::path& data);

// The groups of the config's [[sweep]] tables, or one where it has none; a flag on the command line
// overrides the same key everywhere. Values of other options in the config are set on `command`
// where the command line left them. `own_datasets`: whether a table may name a dataset of its own.
// Throws a UsageError.
std::vector<session::CellGroup> cell_groups_of(CLI::App& command,
                                               session::ExperimentOptions& options,
                                               bool own_datasets);

// The cells that the flags and --config ask for: the union of the groups, all of one dataset.
std::vector<plan::Cell> cells_of(CLI::App& command, session::ExperimentOptions& options);

// The only one. `what`: what the command does with it, "measures one cell". Throws a UsageError
// where there are several.
plan::Cell only_cell_of(CLI::App& command, session::ExperimentOptions& options,
                        const std::string& what,
                        const std::string& remedy = "give one value for each axis");

}  // namespace feedrate::cli
