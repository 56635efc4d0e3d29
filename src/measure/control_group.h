#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::measure {

// The folders of this process's control group and of those above it, whose limits bind it as well:
// its own first, the root last. They are of version 2, or of version 1 if that has the named
// controller. Within a container the path may be the host's; then only the root exists.
std::vector<std::filesystem::path> control_groups(
    const std::string& controller = "", const std::filesystem::path& proc = "/proc",
    const std::filesystem::path& cgroups = "/sys/fs/cgroup");

// Counters of a control group's CPU quota (cpu.max, as containers and batch systems set it): it may
// run for so long in each period, mostly of 100 ms, and is then stopped.
struct QuotaPeriods {
  std::int64_t all = 0;      // in which the group ran at all
  std::int64_t stopped = 0;  // in which it was stopped
};

// The tightest of the quotas that bind this process: of its own control group and of those above.
struct CpuQuota {
  double cpus = -1;   // so many CPUs' time; -1: no quota is set, or none can be seen
  std::string group;  // the folder of the group that has it
};
CpuQuota cpu_quota();
CpuQuota cpu_quota(const std::filesystem::path& proc, const std::filesystem::path& cgroups);

// The counters of this process's group and of those above, which bind it as well; empty where none
// can be seen.
std::vector<QuotaPeriods> quota_periods();

// The same from another /proc and /sys/fs/cgroup; for tests. Both versions of control groups.
std::vector<QuotaPeriods> quota_periods(const std::filesystem::path& proc,
                                        const std::filesystem::path& cgroups);

// The share (0..1) of the periods between two readings in which a group was stopped, for the group
// that was stopped most. 0: no quota is set, or none was reached; -1: unknown.
double quota_stopped(const std::vector<QuotaPeriods>& from, const std::vector<QuotaPeriods>& to);

}  // namespace feedrate::measure
