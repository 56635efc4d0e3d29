#include "measure/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace feedrate {
namespace {

namespace fs = std::filesystem;

// The folder in `cgroups` whose groups have CPU quotas, and this process's group in it. Of version 1 ("4:cpu,cpuacct:/job") it
// is the one that systemd links as "cpu", since its name may have the controllers in another order; version 2 has but one
// ("0::/job").
struct OwnGroup {
  fs::path hierarchy, group;
};

OwnGroup own_group(const fs::path& proc, const fs::path& cgroups) {
  std::ifstream file(proc / "self/cgroup");
  OwnGroup own;
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 2);
    if (("," + controllers + ",").find(",cpu,") != std::string::npos) return {cgroups / "cpu", group};
    if (controllers.empty()) own = {cgroups, group};
  }
  return own;
}

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

}  // namespace

std::vector<QuotaPeriods> quota_periods(const fs::path& proc, const fs::path& cgroups) {
  const OwnGroup own = own_group(proc, cgroups);
  std::vector<QuotaPeriods> found;
  if (own.hierarchy.empty()) return found;
  // Within a container the path may be the host's, of which only the last folder up is there.
  for (fs::path group = own.group;; group = group.parent_path()) {
    if (const auto periods = periods_of(own.hierarchy / group)) found.push_back(*periods);
    if (group.empty()) return found;
  }
}

std::vector<QuotaPeriods> quota_periods() { return quota_periods("/proc", "/sys/fs/cgroup"); }

double quota_stopped(const std::vector<QuotaPeriods>& from, const std::vector<QuotaPeriods>& to) {
  if (from.empty() || from.size() != to.size()) return -1;
  double most = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t all = to[i].all - from[i].all, stopped = to[i].stopped - from[i].stopped;
    if (all > 0) most = std::max(most, static_cast<double>(stopped) / static_cast<double>(all));
  }
  return std::min(most, 1.0);
}

}  // namespace feedrate
