#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/error.h"
#include "ranks/launch.h"
#include "ranks/rank_processes.h"

namespace feedrate::tests {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<ranks::Launch> launch_in(const Variables& variables) {
  return ranks::launch_of([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

TEST(Launch, IsNotFoundWithoutALauncher) {
  EXPECT_FALSE(launch_in({}));
  EXPECT_FALSE(launch_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
}

TEST(Launch, ByTorchrunLeavesItsAgentsPortAlone) {
  const auto launch = launch_in({{"RANK", "5"},
                                 {"WORLD_SIZE", "16"},
                                 {"LOCAL_RANK", "1"},
                                 {"LOCAL_WORLD_SIZE", "4"},
                                 {"MASTER_ADDR", "node0"},
                                 {"MASTER_PORT", "29500"},
                                 {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->launcher, "torchrun");
  EXPECT_EQ(launch->rank, 5);
  EXPECT_EQ(launch->size, 16);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->local_size, 4);
  EXPECT_EQ(launch->host, "node0");
  EXPECT_EQ(launch->port, 29501);
}

TEST(Launch, ByMpirunOnOneMachineMeetsThere) {
  Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "2"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                        {"PMIX_NAMESPACE", "1234"}};
  const auto launch = launch_in(open_mpi);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->launcher, "mpirun");
  EXPECT_EQ(launch->host, "127.0.0.1");
  EXPECT_GE(launch->port, 20000);
  EXPECT_LT(launch->port, 32000);
  open_mpi["OMPI_COMM_WORLD_RANK"] = "0";
  EXPECT_EQ(launch_in(open_mpi)->port, launch->port) << "all ranks go to one place";
  open_mpi["PMIX_NAMESPACE"] = "1235";
  EXPECT_NE(launch_in(open_mpi)->port, launch->port) << "another job goes to another";
}

TEST(Launch, BySlurmMeetsAtTheFirstNode) {
  const Variables slurm = {{"SLURM_PROCID", "9"},
                           {"SLURM_STEP_NUM_TASKS", "16"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_STEP_TASKS_PER_NODE", "8(x2)"},
                           {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                           {"SLURM_JOB_ID", "4711"},
                           {"SLURM_STEP_ID", "0"}};
  const auto launch = launch_in(slurm);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->launcher, "srun");
  EXPECT_EQ(launch->rank, 9);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->local_size, 8);
  EXPECT_EQ(launch->host, "gpu07");
}

// srun sets two of MPI's variables for programs that want them.
TEST(Launch, BySlurmForMpiIsSlurms) {
  const auto launch = launch_in({{"PMI_RANK", "9"},
                                 {"PMI_SIZE", "16"},
                                 {"SLURM_PROCID", "9"},
                                 {"SLURM_STEP_NUM_TASKS", "16"},
                                 {"SLURM_LOCALID", "1"},
                                 {"SLURM_STEP_TASKS_PER_NODE", "8(x2)"},
                                 {"SLURM_STEP_NODELIST", "gpu[07-08]"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->launcher, "srun");
  EXPECT_EQ(launch->local_rank, 1);
}

// Open MPI's daemons on other nodes are a step of Slurm's, the one on the first node is not: all
// must meet at one port.
TEST(Launch, ByMpirunWithinASlurmJobLooksAtNoStep) {
  Variables first = {{"OMPI_COMM_WORLD_RANK", "0"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                     {"PMIX_NAMESPACE", "1"},
                     {"MASTER_ADDR", "node0"}};
  Variables other = first;
  other["OMPI_COMM_WORLD_RANK"] = "3", other["SLURM_STEP_ID"] = "0",
  other["SLURM_STEP_NODELIST"] = "node1";
  EXPECT_EQ(launch_in(first)->port, launch_in(other)->port);
}

// A batch script's own shell: nobody else will come.
TEST(Launch, IsNotFoundInASlurmJobWithoutSrun) {
  EXPECT_FALSE(launch_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "4711"}}));
}

TEST(Launch, OnSeveralMachinesMustSayWhere) {
  EXPECT_THROW(launch_in({{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
               UsageError);
}

TEST(Launch, NonsenseIsRefused) {
  for (const Variables& v :
       {Variables{{"RANK", "two"}, {"WORLD_SIZE", "4"}},
        Variables{{"RANK", "4"}, {"WORLD_SIZE", "4"}},
        Variables{{"RANK", "-1"}, {"WORLD_SIZE", "4"}},
        Variables{
            {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_PORT", "x"}}}) {
    EXPECT_THROW(launch_in(v), UsageError) << v.begin()->second;
  }
}

TEST(FirstNode, OfSlurmsLists) {
  EXPECT_EQ(ranks::first_node(""), "");
  EXPECT_EQ(ranks::first_node("alpha"), "alpha");
  EXPECT_EQ(ranks::first_node("alpha,beta"), "alpha");
  EXPECT_EQ(ranks::first_node("node[003-007,9],x"), "node003");
  EXPECT_EQ(ranks::first_node("node[3,7]"), "node3");
}

TEST(ShareOfCpus, IsFairAndOfNeighbours) {
  const std::vector<int> cpus = {0, 1, 2, 3, 8, 9, 10};
  std::set<int> seen;
  for (int rank = 0; rank < 3; ++rank) {
    const auto share = ranks::share_of_cpus(cpus, rank, 3);
    EXPECT_THAT(share.size(), testing::AnyOf(2u, 3u));
    seen.insert(share.begin(), share.end());
  }
  EXPECT_EQ(seen.size(), cpus.size());
  EXPECT_EQ(ranks::share_of_cpus({0, 1}, 2, 4), std::vector<int>({0}))
      << "more ranks than CPUs share them in turn";
  EXPECT_TRUE(ranks::share_of_cpus({}, 0, 2).empty());
}

}  // namespace
}  // namespace feedrate::tests
