#include "measure/memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "measure/control_group.h"

namespace feedrate::measure {
namespace {

namespace fs = std::filesystem;

// The number after `key` in a file of "key number" lines.
std::optional<std::uint64_t> number_of(const fs::path& path, const std::string& wanted) {
  std::ifstream file(path);
  for (std::string key, rest; file >> key && std::getline(file, rest);) {
    if (key == wanted) return std::strtoull(rest.c_str(), nullptr, 10);
  }
  return std::nullopt;
}

// "max", or an absent file: no limit.
std::optional<std::uint64_t> only_number(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// What one group has left. Its `current` counts files in the page cache too; the kernel gives them
// up before it ends a process, first those that were not used for a while.
std::optional<std::uint64_t> left_in(const fs::path& group) {
  const auto limit = only_number(group / "memory.max");
  const auto used = only_number(group / "memory.current");
  if (!limit || !used) return std::nullopt;
  const fs::path stat = group / "memory.stat";
  const std::uint64_t files =
      number_of(stat, "inactive_file").value_or(0) + number_of(stat, "active_file").value_or(0);
  const std::uint64_t kept = *used - std::min(*used, files);
  return *limit - std::min(*limit, kept);
}

}  // namespace

std::uint64_t memory_available(const fs::path& proc, const fs::path& cgroups) {
  const auto free_kib = number_of(proc / "meminfo", "MemAvailable:");
  if (!free_kib) return 0;
  std::uint64_t available = *free_kib * 1024;
  for (const fs::path& group : control_groups("", proc, cgroups)) {
    if (const auto left = left_in(group)) available = std::min(available, *left);
  }
  return available;
}

std::uint64_t memory_size(const fs::path& proc, const fs::path& cgroups) {
  const auto kib = number_of(proc / "meminfo", "MemTotal:");
  if (!kib) return 0;
  std::uint64_t size = *kib * 1024;
  for (const fs::path& group : control_groups("memory", proc, cgroups)) {
    // Version 2; version 1, where no limit is a number larger than any memory.
    for (const char* limit : {"memory.max", "memory.limit_in_bytes"})
      size = std::min(size, only_number(group / limit).value_or(size));
  }
  return size;
}

ProcessSize process_size() {
  const fs::path status = "/proc/self/status";
  return {number_of(status, "Threads:").value_or(0), 1024 * number_of(status, "VmRSS:").value_or(0),
          1024 * number_of(status, "RssAnon:").value_or(0)};
}

std::uint64_t memory_available() { return memory_available("/proc", "/sys/fs/cgroup"); }
std::uint64_t memory_size() { return memory_size("/proc", "/sys/fs/cgroup"); }

}  // namespace feedrate::measure
