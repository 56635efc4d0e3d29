#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace feedrate::measure {

// A disk, a partition, or what stands in for one: a loop, device-mapper or RAID device.
struct BlockDevice {
  std::string name;            // "vda1", "loop0", "dm-2"
  int depth = 0;               // 0: the file system lies on it; 1: that one is made of it; ...
  std::filesystem::path stat;  // its counters, in /sys
  // Of a loop device that reads its file through the page cache: that file. Empty for others, for
  // a loop device with direct I/O too.
  std::filesystem::path cached_file;
};

// The devices under the file system that holds `path`, the topmost first; empty where there are
// none (network file systems, tmpfs) or nothing can be seen of them. `proc`, `sys`: others for
// tests.
std::vector<BlockDevice> block_devices_under(const std::filesystem::path& path,
                                             const std::filesystem::path& proc = "/proc",
                                             const std::filesystem::path& sys = "/sys");

}  // namespace feedrate::measure
