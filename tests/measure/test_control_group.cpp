#include "measure/control_group.h"
#include "tests/measure/made_up_system.h"

namespace feedrate::tests {
namespace {

class CpuQuota : public MadeUpSystem {
 protected:
  std::vector<measure::QuotaPeriods> periods() {
    return measure::quota_periods(root_ / "proc", root_ / "cgroup");
  }
};

TEST_F(CpuQuota, IsOfItsGroupAndOfThoseAbove) {
  write("proc/self/cgroup", "0::/jobs/mine\n");
  EXPECT_EQ(measure::quota_stopped(periods(), periods()), -1) << "none to be seen";
  write("cgroup/cpu.stat", "usage_usec 5\nuser_usec 4\nsystem_usec 1\n");  // the root has no quota
  EXPECT_TRUE(periods().empty());
  write("cgroup/jobs/mine/cpu.stat",
        "usage_usec 5\nnr_periods 100\nnr_throttled 30\nthrottled_usec 70000\n");
  write("cgroup/jobs/cpu.stat", "nr_periods 20\nnr_throttled 1\n");
  const auto before = periods();
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(measure::quota_stopped(before, before), 0) << "no period in between";
  EXPECT_EQ(measure::quota_stopped(before, {{5, 0}, {20, 1}}), -1) << "it began anew";
  write("cgroup/jobs/mine/cpu.stat",
        "usage_usec 9\nnr_periods 200\nnr_throttled 55\nthrottled_usec 90000\n");
  write("cgroup/jobs/cpu.stat", "nr_periods 120\nnr_throttled 1\n");
  EXPECT_DOUBLE_EQ(measure::quota_stopped(before, periods()), 0.25)
      << "the group above, which was not stopped, takes nothing from it";
  write("cgroup/jobs/cpu.stat", "nr_periods 120\nnr_throttled 91\n");
  EXPECT_DOUBLE_EQ(measure::quota_stopped(before, periods()), 0.9);
}

TEST_F(CpuQuota, IsFoundInVersion1) {
  write("proc/self/cgroup", "5:cpuset:/\n4:cpuacct,cpu:/docker/abc\n0::/\n");
  write(
      "cgroup/cpu/cpu.stat",
      "nr_periods 10\nnr_throttled 4\nthrottled_time 9\n");  // a container sees its own as the root
  ASSERT_EQ(periods().size(), 1u);
  EXPECT_EQ(periods()[0].all, 10);
  EXPECT_EQ(periods()[0].stopped, 4);
}

TEST_F(CpuQuota, TheTightestBinds) {
  const auto quota = [&] { return measure::cpu_quota(root_ / "proc", root_ / "cgroup"); };
  write("proc/self/cgroup", "0::/jobs/mine\n");
  EXPECT_EQ(quota().cpus, -1) << "none to be seen";
  write("cgroup/jobs/mine/cpu.max", "max 100000\n");
  EXPECT_EQ(quota().cpus, -1) << "none set";
  write("cgroup/jobs/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 2.5);
  EXPECT_EQ(quota().group, (root_ / "cgroup/jobs").string());
  write("cgroup/jobs/mine/cpu.max", "5000 10000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 0.5);
  write("cgroup/jobs/mine/cpu.max", "nonsense\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 2.5);
}

TEST_F(CpuQuota, OfVersion1IsInTwoFiles) {
  const auto quota = [&] { return measure::cpu_quota(root_ / "proc", root_ / "cgroup"); };
  write("proc/self/cgroup", "4:cpuacct,cpu:/docker\n0::/\n");
  write("cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(quota().cpus, -1) << "a file alone says nothing";
  write("cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(quota().cpus, 1.5);
  write("cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota().cpus, -1);
}

}  // namespace
}  // namespace feedrate::tests
