#pragma once
#include <cstdint>
#include <filesystem>

namespace feedrate {

// Memory that can be had without swapping, in bytes: the machine's MemAvailable, or less where a control
// group (a container, a batch job) sets a limit. 0 if it cannot be told.
std::uint64_t memory_available();

// The same from another /proc and /sys/fs/cgroup; for tests. Looks at version 2 control groups only.
std::uint64_t memory_available(const std::filesystem::path& proc, const std::filesystem::path& cgroups);

}  // namespace feedrate
