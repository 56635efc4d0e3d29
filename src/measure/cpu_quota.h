#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace feedrate {

// Counters of a control group's CPU quota (cpu.max, as containers and batch systems set it): it may run for so long in each
// period, mostly of 100 ms, and is then stopped.
struct QuotaPeriods {
  std::int64_t all = 0;      // in which the group ran at all
  std::int64_t stopped = 0;  // in which it was stopped
};

// Of this process's group and of those above, which bind it as well; empty where none can be seen.
std::vector<QuotaPeriods> quota_periods();

// The same from another /proc and /sys/fs/cgroup; for tests. Both versions of control groups.
std::vector<QuotaPeriods> quota_periods(const std::filesystem::path& proc, const std::filesystem::path& cgroups);

// The share of the periods between that it was stopped in, 0..1, of the group that was stopped most: 0 where no quota is set,
// or none was reached; -1 where it cannot be told.
double quota_stopped(const std::vector<QuotaPeriods>& from, const std::vector<QuotaPeriods>& to);

}  // namespace feedrate
