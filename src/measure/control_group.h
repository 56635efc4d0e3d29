#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate {

// The folders of this process's control group and of those above it, whose limits bind it as well: its own first, the root
// last. Of version 2; where a controller is named and version 1 has it, of that. Within a container the path may be the
// host's, of which only the last folder up is there.
std::vector<std::filesystem::path> control_groups(const std::string& controller = "", const std::filesystem::path& proc = "/proc",
                                                  const std::filesystem::path& cgroups = "/sys/fs/cgroup");

}  // namespace feedrate
