#include "ranks/launch.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "device/group.h"

namespace feedrate::ranks {
namespace {

// The environment variables of each launcher. PMI's are those of MPICH and Intel MPI, OMPI's those
// of Open MPI.
struct Names {
  const char *launcher, *rank, *size, *local_rank, *local_size, *job;
  bool by_local_rank = false;  // only where that is set as well
};
constexpr Names kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID", true},
    // SLURM_STEP_...: a batch script's own shell is in a job, but no srun has started it.
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
     "SLURM_JOB_ID"},
    // Listed after srun, which sets PMI_RANK and PMI_SIZE as well, for MPI programs (pmi2).
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID"},
};

int number(const Environment& environment, const char* name, int least) {
  const std::string text = environment(name);
  int value = least - 1;
  // Slurm's "4(x2)": the same on each node; the first number is what is wanted.
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (value < least)
    throw UsageError(std::string(name) + "=" + text, "makes no sense", "see docs/distributed.md");
  return value;
}

// Ports that programs may use freely, below those that Linux gives to outgoing connections (32768).
int port_of_job(const std::string& job) {
  unsigned hash = 2166136261U;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;  // FNV-1a
  return 20000 + static_cast<int>(hash % 12000);
}

void find_meeting_point(const Environment& environment, Launch& launch) {
  launch.host = launch.one_machine() ? device::kLoopback : environment("MASTER_ADDR");
  // Under mpirun some ranks may be in a step of Slurm's and others not.
  const bool by_srun = launch.launcher == "srun";
  if (launch.host.empty() && by_srun) launch.host = first_node(environment("SLURM_STEP_NODELIST"));
  if (launch.host.empty()) {
    throw UsageError("MASTER_ADDR", "is needed where ranks run on several machines",
                     "set it to the name of rank 0's machine");
  }
  if (!environment("MASTER_PORT").empty()) {
    launch.port = number(environment, "MASTER_PORT", 1);
    if (environment("TORCHELASTIC_USE_AGENT_STORE") == "True") ++launch.port;
  } else {
    launch.port = port_of_job(launch.job);
  }
}

}  // namespace

std::string first_node(const std::string& list) {
  std::string name = list.substr(0, list.find(','));
  const auto bracket = name.find('[');
  if (bracket == std::string::npos) return name;
  const std::string numbers = name.substr(bracket + 1);
  return name.substr(0, bracket) + numbers.substr(0, numbers.find_first_of("-]"));
}

std::optional<Launch> launch_of(const Environment& environment) {
  for (const Names& names : kLaunchers) {
    if (environment(names.rank).empty() || environment(names.size).empty()) continue;
    if (names.by_local_rank && environment(names.local_rank).empty()) continue;
    Launch launch{.launcher = names.launcher,
                  .rank = number(environment, names.rank, 0),
                  .size = number(environment, names.size, 1)};
    if (launch.size == 1) return std::nullopt;
    if (!environment(names.local_rank).empty())
      launch.local_rank = number(environment, names.local_rank, 0);
    if (!environment(names.local_size).empty())
      launch.local_size = number(environment, names.local_size, 1);
    if (launch.rank >= launch.size)
      throw UsageError(names.rank, "is not below " + std::string(names.size),
                       "see docs/distributed.md");
    launch.job = environment(names.job);
    if (launch.launcher == "srun") launch.job += environment("SLURM_STEP_ID");
    find_meeting_point(environment, launch);
    return launch;
  }
  return std::nullopt;
}

}  // namespace feedrate::ranks
