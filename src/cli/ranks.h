#pragma once
#include <memory>
#include <optional>

#include "cli/options.h"
#include "ranks/rank_processes.h"

namespace feedrate {

// Where another program (torchrun, mpirun, srun) has put this process; the same for all that a command does.
// Where it has, --gpus is the number of its ranks unless it is given.
std::optional<Launch> find_launch(ExperimentOptions& options);

// Ranks for a command that measures `cells`: rank 0's process, or one that no launcher has started. Null if `stop` came
// while it waited for the others.
std::unique_ptr<RankProcesses> open_ranks(const std::optional<Launch>& launch, const std::vector<Cell>& cells, const RunOptions& options,
                                          std::stop_token stop);

// The other ranks' part of that command. Returns the exit code.
int follow(const Launch& launch, const std::vector<Cell>& cells, const RunOptions& options);

}  // namespace feedrate
