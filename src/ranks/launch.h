#pragma once
#include <functional>
#include <optional>
#include <string>

namespace feedrate::ranks {

// The rank that a launcher (torchrun, mpirun, srun) gave this process.
struct Launch {
  std::string launcher;  // "torchrun", "mpirun", "srun"
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // on this machine
  std::string host;                    // rank 0's, as the others reach it
  int port = 0;                        // where rank 0 waits for the others
};

// Reads a variable of the environment; empty: not set.
using Environment = std::function<std::string(const char* name)>;

// Nothing if no launcher has started several processes. Host and port are MASTER_ADDR and
// MASTER_PORT where they are given; under torchrun, whose agent listens at MASTER_PORT itself, it
// is the next port. Otherwise they are Slurm's first node, or this machine, and a port made of the
// job's number. Errors: UsageError where they are unknown, or make no sense.
std::optional<Launch> launch_of(const Environment& environment);

// The first name of a Slurm node list: "node[03-07,9],x" -> "node03".
std::string first_node(const std::string& list);

}  // namespace feedrate::ranks
