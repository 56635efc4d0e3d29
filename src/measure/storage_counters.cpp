#include "measure/storage_counters.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace feedrate::measure {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> numbers_in(std::istream& words) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

// The third number of a device's `stat` is how many sectors were read; they are of 512 bytes
// whatever the device's own are.
std::int64_t bytes_read_by(const BlockDevice& device) {
  std::ifstream stat(device.stat);
  std::int64_t reads = 0, merged = 0, sectors = 0;
  return stat >> reads >> merged >> sectors ? 512 * sectors : -1;
}

}  // namespace

StorageCounters::StorageCounters(const fs::path& folder, fs::path proc, fs::path sys)
    : proc_(std::move(proc)), sys_(std::move(sys)) {
  std::error_code failed;
  mount_ = mount_of(fs::weakly_canonical(folder, failed), proc_).value_or(Mount{});
  devices_ = block_devices_under(folder, proc_, sys_);
}

std::vector<StorageCounter> StorageCounters::read() const {
  std::vector<StorageCounter> counters;
  if (mount_.type.starts_with("nfs")) add_nfs(counters);
  if (mount_.type == "xfs") add_xfs(counters);
  for (const BlockDevice& device : devices_) {
    if (const std::int64_t bytes = bytes_read_by(device); bytes >= 0)
      counters.push_back({device.name, device.depth, bytes});
  }
  return counters;
}

// "device server:/export mounted on /data with fstype nfs4 statvers=1.1", and below it, before the
// next mount's: "bytes: 1 2 3 4 5 6 7 8".
void StorageCounters::add_nfs(std::vector<StorageCounter>& counters) const {
  std::ifstream file(proc_ / "self/mountstats");
  std::vector<std::int64_t> bytes;
  bool ours = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, source, mounted, on, point;
    words >> first;
    if (first == "device" && words >> source >> mounted >> on >> point)
      ours = unescaped(point) == mount_.point;
    if (first == "bytes:" && ours) bytes = numbers_in(words);
  }
  if (bytes.size() < 6) return;
  counters.push_back({"nfs.normal_read", -1, bytes[0]});  // asked for through the page cache
  counters.push_back({"nfs.direct_read", -1, bytes[2]});  // asked for with O_DIRECT
  counters.push_back({"nfs.server_read", -1, bytes[4]});  // that the server sent
}

// The last of "xpc": what programs were given of files, from the page cache as well.
void StorageCounters::add_xfs(std::vector<StorageCounter>& counters) const {
  std::ifstream own(devices_.empty() ? fs::path()
                                     : sys_ / "fs/xfs" / devices_.front().name / "stats/stats");
  std::ifstream all(proc_ / "fs/xfs/stat");  // of every XFS of the machine: older kernels
  std::ifstream& file = own ? own : all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first) || first != "xpc") continue;
    if (const auto bytes = numbers_in(words); bytes.size() >= 3)
      counters.push_back({"xfs.read", -1, bytes[2]});
    return;
  }
}

std::vector<StorageCounter> read_between(const std::vector<StorageCounter>& from,
                                         const std::vector<StorageCounter>& to) {
  std::vector<StorageCounter> read;
  for (const StorageCounter& end : to) {
    const auto start = std::ranges::find(from, end.name, &StorageCounter::name);
    if (start != from.end() && start->read_bytes <= end.read_bytes)
      read.push_back({end.name, end.depth, end.read_bytes - start->read_bytes});
  }
  return read;
}

double read_by_others(const std::vector<StorageCounter>& read, double own_bytes) {
  const auto top = std::ranges::find(read, 0, &StorageCounter::depth);
  if (top == read.end() || own_bytes < 0) return -1;
  return std::max(0.0, static_cast<double>(top->read_bytes) - own_bytes);
}

}  // namespace feedrate::measure
