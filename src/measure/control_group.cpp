#include "measure/control_group.h"

#include <fstream>

namespace feedrate {

namespace fs = std::filesystem;

std::vector<fs::path> control_groups(const std::string& controller, const fs::path& proc, const fs::path& cgroups) {
  // "0::/job" of version 2, "4:cpu,cpuacct:/job" of version 1, whose folder's name may have the controllers in another
  // order: systemd links each by its own.
  fs::path hierarchy = cgroups, own;
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool wanted = !controller.empty() && ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
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

}  // namespace feedrate
