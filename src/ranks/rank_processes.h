#pragma once
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ranks/coordinator.h"
#include "ranks/hello.h"
#include "ranks/launch.h"
#include "ranks/turned_away.h"

namespace feedrate::ranks {

// Where ranks that are processes of their own come from.
class RankProcesses {
 public:
  virtual ~RankProcesses() = default;
  // How many there are; 0: as many as are asked for.
  virtual int size() const = 0;
  // How many of `count` run on this machine.
  virtual int here(int count) const { return count; }
  // Has `count` ranks carry out `task`; see Coordinator::run(). `team`: those that have carried out
  // the task before, if it was of the same team, go on with this one; with an error, or stopped, a
  // team ends. Empty: the ranks end with the task. A launcher's ranks are the same for all tasks.
  virtual bool run(int count, const std::string& task, const TaskHooks& hooks, std::stop_token stop,
                   const std::string& team) = 0;
  // The same by one process on this machine that is started for this task and ends with it; none of
  // the ranks.
  virtual bool run_aside(const std::string& task, const TaskHooks& hooks, std::stop_token stop) = 0;
};

// Ranks that are started for each task or team, on this machine, each with its share of the CPUs.
// `command`: the arguments that start this program as a rank at the stream
// Children::kRankDescriptor; the rank's number, the number of ranks and rank 0's host are inserted
// behind the first of them. `alone`: what a message calls a single one.
std::unique_ptr<RankProcesses> make_local_ranks(std::vector<std::string> command,
                                                std::string alone = "the cell's process");

// Ranks that a launcher started, for all tasks. For rank 0's process: its own rank is a child of
// it, so that it outlives any rank. `say` and errors: those of meet_ranks(). Null if `stop` came
// first.
std::unique_ptr<RankProcesses> make_launched_ranks(const Launch& launch,
                                                   const RunIdentity& identity,
                                                   std::vector<std::string> command,
                                                   std::stop_token stop, const Say& say);

// The share of `cpus` of rank `rank` of `count`: neighbours in that list, as nearly as possible the
// same number for each rank. With more ranks than CPUs, a rank gets one CPU and shares it.
std::vector<int> share_of_cpus(const std::vector<int>& cpus, int rank, int count);

// The share of a launched rank, where its launcher leaves all CPUs of a machine to all its ranks;
// else empty.
std::vector<int> own_cpus(const Launch& launch);

}  // namespace feedrate::ranks
