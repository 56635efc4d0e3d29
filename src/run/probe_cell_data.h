#pragma once
#include <cstdint>
#include <filesystem>
#include <stop_token>

#include "plan/cell.h"
#include "plan/settings.h"
#include "ranks/rank_processes.h"
#include "run/datasets.h"
#include "run/run_options.h"

// Storage that does not answer would keep this process, which nobody watches, for ever. So another
// one does first, under watch, what this process is about to do, or does it instead. Each of these
// throws a std::runtime_error of one line, "PATH: stalled: ...", if storage does not answer for
// `options.limits.stall_seconds`.
namespace feedrate::run {

// Opens what a cell reads, and sees whether it can be read in the cell's way. Does nothing if
// `datasets` was looked at so before. All else that is wrong is left to this process to find.
// `datasets` tells the user what is listed.
void probe_cell_data(const plan::Cell& cell, const plan::CellSettings& settings,
                     const RunOptions& options, ranks::RankProcesses& processes,
                     Datasets& datasets);

// The same for a whole folder, `options.data`: opens all variants of it, if it is one of `feedrate
// gen`.
void probe_dataset(const RunOptions& options, ranks::RankProcesses& processes);

// Copies a part of what a cell reads, `most_bytes` of it, to the folder of a storage::MemoryCopy.
// False if `stop` came first. Throws a std::runtime_error of one line as well where that cannot be
// done.
bool copy_aside(const plan::Cell& cell, const RunOptions& options,
                const std::filesystem::path& folder, std::uint64_t most_bytes,
                ranks::RankProcesses& processes, std::stop_token stop);

}  // namespace feedrate::run
