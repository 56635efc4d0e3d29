#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "measure/memory.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal:  8000 kB\nMemFree:   100 kB\nMemAvailable:   4000 kB\n");
    write("proc/self/cgroup", "0::/jobs/mine\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::uint64_t available() { return memory_available(root_ / "proc", root_ / "cgroup"); }

  fs::path root_ = fs::temp_directory_path() / ("feedrate-memory-" + std::to_string(getpid()));
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
  write("cgroup/jobs/mine/memory.stat", "anon 400000\nfile 300000\ninactive_file 200000\n");
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

TEST_F(Memory, UnknownIsZero) {
  fs::remove(root_ / "proc/meminfo");
  EXPECT_EQ(available(), 0u);
  EXPECT_GT(memory_available(), 0u);  // this machine's own
}

}  // namespace
}  // namespace feedrate
