#include "measure/control_group.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace feedrate::measure {

namespace fs = std::filesystem;

namespace {

std::optional<QuotaPeriods> periods_of(const fs::path& group) {
  std::ifstream file(group / "cpu.stat");
  std::optional<QuotaPeriods> found;
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) {
    if (key == "nr_periods") found.emplace().all = value;
    if (key == "nr_throttled" && found) found->stopped = value;
  }
  return found;
}

// How many CPUs' time it may take. Version 2: "200000 100000", or "max 100000"; version 1: two
// files, -1 for no quota.
std::optional<double> quota_of(const fs::path& group) {
  std::ifstream both(group / "cpu.max"), quota(group / "cpu.cfs_quota_us"),
      period(group / "cpu.cfs_period_us");
  double may_run = 0, of = 0;
  if (!(both >> may_run >> of) && !(quota >> may_run && period >> of)) return std::nullopt;
  return may_run > 0 && of > 0 ? std::optional(may_run / of) : std::nullopt;
}

}  // namespace

std::vector<fs::path> control_groups(const std::string& controller, const fs::path& proc,
                                     const fs::path& cgroups) {
  // "0::/job" of version 2, "4:cpu,cpuacct:/job" of version 1, whose folder's name may have the
  // controllers in another order: systemd links each by its own.
  fs::path hierarchy = cgroups, own;
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool wanted = !controller.empty() &&
                        ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
    if (!wanted && !controllers.empty()) continue;
    own = line.substr(second + 2);
    if (wanted) {
      hierarchy = cgroups / controller;
      break;
    }
  }
  std::vector<fs::path> groups;
  for (;; own = own.parent_path()) {
    groups.push_back(hierarchy / own);
    if (own.empty()) return groups;
  }
}

std::vector<QuotaPeriods> quota_periods(const fs::path& proc, const fs::path& cgroups) {
  std::vector<QuotaPeriods> found;
  for (const fs::path& group : control_groups("cpu", proc, cgroups)) {
    if (const auto periods = periods_of(group)) found.push_back(*periods);
  }
  return found;
}

std::vector<QuotaPeriods> quota_periods() { return quota_periods("/proc", "/sys/fs/cgroup"); }

CpuQuota cpu_quota(const fs::path& proc, const fs::path& cgroups) {
  CpuQuota tightest;
  for (const fs::path& group : control_groups("cpu", proc, cgroups)) {
    const auto cpus = quota_of(group);
    if (cpus && (tightest.cpus < 0 || *cpus < tightest.cpus)) tightest = {*cpus, group.string()};
  }
  return tightest;
}

CpuQuota cpu_quota() { return cpu_quota("/proc", "/sys/fs/cgroup"); }

double quota_stopped(const std::vector<QuotaPeriods>& from, const std::vector<QuotaPeriods>& to) {
  if (from.empty() || from.size() != to.size()) return -1;
  double most = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t all = to[i].all - from[i].all, stopped = to[i].stopped - from[i].stopped;
    if (all < 0 || stopped < 0) return -1;  // another group of that name
    if (all > 0) most = std::max(most, static_cast<double>(stopped) / static_cast<double>(all));
  }
  return std::min(most, 1.0);
}

}  // namespace feedrate::measure
