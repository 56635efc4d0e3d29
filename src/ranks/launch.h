#pragma once
#include <functional>
#include <optional>
#include <string>

namespace feedrate::ranks {

// The rank that a launcher (torchrun, mpirun, srun) gave this process.
struct Launch {
  std::string launcher;  // "torchrun", "mpirun", "srun"
  std::string job;       // its name for the job, the same for all ranks; may be empty
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // on this machine
  std::string host;                    // rank 0's, as the others reach it
  int port = 0;                        // where rank 0 waits for the others

  bool one_machine() const { return local_size == size; }
};

// Reads a variable of the environment; empty: not set.
using Environment = std::function<std::string(const char* name)>;

// Nothing if no launcher has started several processes. The port is MASTER_PORT if that is given
// (under torchrun, whose agent listens there itself, the next one), else made of the job's number.
// The host is the loopback if all ranks are on one machine, else MASTER_ADDR or Slurm's first node.
// Errors: UsageError where they are unknown, or make no sense.
std::optional<Launch> launch_of(const Environment& environment);

// The first name of a Slurm node list: "node[03-07,9],x" -> "node03".
std::string first_node(const std::string& list);

}  // namespace feedrate::ranks
