#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/block_devices.h"
#include "measure/mounts.h"

namespace feedrate::measure {

// Bytes that something below a folder's files has read, for every program that reads there.
struct StorageCounter {
  // "vda1": a block device. "nfs.server", "xfs.read": what the file system itself counts.
  std::string name;
  int depth = -1;                // of a device, as in BlockDevice; -1: the file system
  std::int64_t read_bytes = -1;  // -1: cannot be read
};

// The counters below a folder: its file system's own, where it has some, then those of the block
// devices under it, the topmost first. What a machine lacks, or lets nobody read, is left out.
class StorageCounters {
 public:
  // `proc`, `sys`: others for tests.
  explicit StorageCounters(const std::filesystem::path& folder,
                           std::filesystem::path proc = "/proc",
                           std::filesystem::path sys = "/sys");

  std::vector<StorageCounter> read() const;

 private:
  void add_nfs(std::vector<StorageCounter>& counters) const;
  void add_xfs(std::vector<StorageCounter>& counters) const;

  const std::filesystem::path proc_, sys_;
  Mount mount_;  // without a type where it is unknown
  std::vector<BlockDevice> devices_;
};

// What was read between two readings of the same counters.
std::vector<StorageCounter> read_between(const std::vector<StorageCounter>& from,
                                         const std::vector<StorageCounter>& to);

// Of these, what other programs read: beyond `own_bytes`, at the device that the file system lies
// on. What lies below it may read more than it is asked for: checksums, the rest of a degraded
// RAID, a loop device's read-ahead. -1: unknown, as where there is no device (network file systems,
// tmpfs), or `own_bytes` is below 0.
double read_by_others(const std::vector<StorageCounter>& read, double own_bytes);

}  // namespace feedrate::measure
