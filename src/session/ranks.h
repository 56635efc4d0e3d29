#pragma once
#include <memory>
#include <optional>

#include "ranks/rank_processes.h"
#include "session/experiment_options.h"
#include "session/watcher.h"

namespace feedrate::session {

// The rank that a launcher (torchrun, mpirun, srun) gave this process; nothing if no launcher
// started it. Under a launcher, --gpus defaults to the number of its ranks, and all but rank 0 are
// quiet.
std::optional<ranks::Launch> find_launch(ExperimentOptions& options);

// For a command that does without one: `how`, "starts its jobs itself". Throws a UsageError.
void refuse_launchers(const std::string& command, const std::string& how);

// The ranks for a command that measures `cells`. For rank 0's process, or one that no launcher has
// started. Null if `stop` came while it waited for the other ranks.
std::unique_ptr<ranks::RankProcesses> open_ranks(const std::optional<ranks::Launch>& launch,
                                                 const std::vector<plan::Cell>& cells,
                                                 const run::RunOptions& options, Watcher& watcher,
                                                 std::stop_token stop);

// The other ranks' part of that command. Returns the exit code.
int follow(const ranks::Launch& launch, const std::vector<plan::Cell>& cells,
           const run::RunOptions& options, Watcher& watcher);

}  // namespace feedrate::session
