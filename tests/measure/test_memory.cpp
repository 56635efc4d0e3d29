#include "measure/memory.h"
#include "tests/measure/made_up_system.h"

namespace feedrate::tests {
namespace {

class Memory : public MadeUpSystem {
 protected:
  Memory() {
    write("proc/meminfo", "MemTotal:  8000 kB\nMemFree:   100 kB\nMemAvailable:   4000 kB\n");
    write("proc/self/cgroup", "0::/jobs/mine\n");
  }
  std::uint64_t available() { return measure::memory_available(root_ / "proc", root_ / "cgroup"); }
};

TEST_F(Memory, WithoutALimitItIsTheMachines) {
  EXPECT_EQ(available(), 4000u * 1024);
  write("cgroup/jobs/mine/memory.max", "max\n");
  write("cgroup/jobs/mine/memory.current", "1000000\n");
  EXPECT_EQ(available(), 4000u * 1024);
}

TEST_F(Memory, ALimitBindsAndThePageCacheIsGivenUp) {
  write("cgroup/jobs/mine/memory.max", "1000000\n");
  write("cgroup/jobs/mine/memory.current", "700000\n");
  EXPECT_EQ(available(), 300000u);
  write("cgroup/jobs/mine/memory.stat",
        "anon 400000\nfile 300000\ninactive_file 150000\nactive_file 50000\n");
  EXPECT_EQ(available(), 500000u);
}

TEST_F(Memory, ALimitAboveBindsAsWell) {
  write("cgroup/jobs/mine/memory.max", "1000000\n");
  write("cgroup/jobs/mine/memory.current", "0\n");
  write("cgroup/jobs/memory.max", "500000\n");
  write("cgroup/jobs/memory.current", "490000\n");
  EXPECT_EQ(available(), 10000u);
  write("cgroup/memory.max", "500000\n");  // as a container sees its own
  write("cgroup/memory.current", "600000\n");
  EXPECT_EQ(available(), 0u);
}

TEST_F(Memory, ItsSizeIsTheMachinesOrItsGroups) {
  const auto size = [&] { return measure::memory_size(root_ / "proc", root_ / "cgroup"); };
  EXPECT_EQ(size(), 8000u * 1024);
  write("cgroup/jobs/mine/memory.max", "max\n");
  EXPECT_EQ(size(), 8000u * 1024);
  write("cgroup/jobs/memory.max", "5000000\n");
  EXPECT_EQ(size(), 5000000u) << "a limit above binds";
  write("proc/self/cgroup", "4:memory:/docker/abc\n0::/\n");
  EXPECT_EQ(size(), 8000u * 1024) << "of version 1, whose folder is not there";
  write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(size(), 8000u * 1024) << "none set";
  write("cgroup/memory/docker/abc/memory.limit_in_bytes", "3000000\n");
  EXPECT_EQ(size(), 3000000u);
}

TEST_F(Memory, UnknownIsZero) {
  std::filesystem::remove(root_ / "proc/meminfo");
  EXPECT_EQ(available(), 0u);
  EXPECT_GT(measure::memory_available(), 0u);  // this machine's own
}

}  // namespace
}  // namespace feedrate::tests
