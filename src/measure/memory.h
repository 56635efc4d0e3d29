#pragma once
#include <cstdint>
#include <filesystem>

namespace feedrate::measure {

// Memory that can be had without swapping, in bytes: the machine's MemAvailable, or less where a
// control group (a container, a batch job) sets a limit. 0 if unknown.
std::uint64_t memory_available();

// Memory that this process's control group can fill, in bytes: the machine's MemTotal, or less
// where the group or one above sets a limit. 0 if unknown.
std::uint64_t memory_size();

// This process's threads, those of every library included, and its resident memory. 0: unknown.
struct ProcessSize {
  std::uint64_t threads = 0;
  std::uint64_t resident_bytes = 0;   // mapped files that were read count, too
  std::uint64_t anonymous_bytes = 0;  // of these: what no file holds
};
ProcessSize process_size();

// The same from another /proc and /sys/fs/cgroup; for tests. memory_available() looks at version 2
// control groups only, memory_size() at both versions.
std::uint64_t memory_available(const std::filesystem::path& proc,
                               const std::filesystem::path& cgroups);
std::uint64_t memory_size(const std::filesystem::path& proc, const std::filesystem::path& cgroups);

}  // namespace feedrate::measure
