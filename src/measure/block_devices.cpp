#include "measure/block_devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <system_error>

#include "base/proc_files.h"
#include "measure/mounts.h"

namespace feedrate::measure {
namespace {

namespace fs = std::filesystem;

// Where a link leads; empty if it leads nowhere.
fs::path target_of(const fs::path& link) {
  std::error_code failed;
  const fs::path target = fs::canonical(link, failed);
  return failed ? fs::path() : target;
}

// Finds the devices under a file system, and under each of these what it is made of.
class Search {
 public:
  Search(fs::path proc, fs::path sys) : proc_(std::move(proc)), sys_(std::move(sys)) {}

  void add_under(const fs::path& path, int depth) { add(folder_of(path), depth); }

  std::vector<BlockDevice> found() {
    std::ranges::stable_sort(found_, {}, &BlockDevice::depth);
    return std::move(found_);
  }

 private:
  // The folder in /sys of the device that the file system of `path` lies on.
  fs::path folder_of(const fs::path& path) const {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return {};
    const fs::path by_number =
        target_of(sys_ / "dev/block" /
                  (std::to_string(major(info.st_dev)) + ":" + std::to_string(minor(info.st_dev))));
    if (!by_number.empty()) return by_number;
    // Btrfs, for one, gives its files a number of no device; the mount still names one. A name
    // below /dev/mapper is a link to the device's own.
    std::error_code failed;
    const auto mount = mount_of(fs::weakly_canonical(path, failed), proc_);
    if (!mount || !mount->device.starts_with("/dev/")) return {};
    return target_of(sys_ / "class/block" / fs::weakly_canonical(mount->device, failed).filename());
  }

  void add(const fs::path& folder, int depth) {
    constexpr int kMostDepth = 16;
    const std::string name = folder.filename().string();
    if (name.empty() || depth > kMostDepth ||
        std::ranges::find(found_, name, &BlockDevice::name) != found_.end())
      return;
    // What a partition is made of is said by its disk.
    std::error_code failed;
    const fs::path disk = fs::exists(folder / "partition", failed) ? folder.parent_path() : folder;
    const fs::path file = first_line(disk / "loop/backing_file");
    const bool past_cache = first_line(disk / "loop/dio") == "1";
    found_.push_back({name, depth, folder / "stat", past_cache ? fs::path() : file});
    for (const fs::path& part : entries(disk / "slaves", "")) add(target_of(part), depth + 1);
    if (!file.empty()) add_under(file, depth + 1);
  }

  const fs::path proc_, sys_;
  std::vector<BlockDevice> found_;
};

}  // namespace

std::vector<BlockDevice> block_devices_under(const fs::path& path, const fs::path& proc,
                                             const fs::path& sys) {
  Search search(proc, sys);
  search.add_under(path, 0);
  return search.found();
}

}  // namespace feedrate::measure
