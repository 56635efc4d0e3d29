#include "measure/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "measure/control_group.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

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
  std::vector<QuotaPeriods> found;
  for (const fs::path& group : control_groups("cpu", proc, cgroups)) {
    if (const auto periods = periods_of(group)) found.push_back(*periods);
  }
  return found;
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
