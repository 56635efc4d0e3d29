#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "experiment/hardware.h"
#include "experiment/proc_files.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// The mount that holds `path`: the longest mount point that is a prefix of it.
Json mount_of(const std::string& path) {
  std::ifstream mounts("/proc/self/mounts");
  Json best = nullptr;
  std::size_t longest = 0;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string device, point, type, options;
    fields >> device >> point >> type >> options;
    const bool inside = path.rfind(point, 0) == 0 && (point == "/" || path.size() == point.size() || path[point.size()] == '/');
    if (!inside || point.size() < longest) continue;
    longest = point.size();
    best = {{"type", type}, {"device", device}, {"mount_options", options}};
  }
  return best;
}

// Null where the file system has none of its own (NFS, tmpfs, overlays).
Json block_device_of(const fs::path& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return nullptr;
  std::error_code failed;
  const std::string number = std::to_string(major(info.st_dev)) + ":" + std::to_string(minor(info.st_dev));
  fs::path disk = fs::canonical("/sys/dev/block/" + number, failed);
  if (failed) return nullptr;
  if (fs::exists(disk / "partition", failed)) disk = disk.parent_path();
  const fs::path queue = disk / "queue";
  return {{"name", disk.filename().string()}, {"model", first_line(disk / "device/model")}, {"vendor", first_line(disk / "device/vendor")},
          {"sectors_of_512", first_line(disk / "size")}, {"rotational", first_line(queue / "rotational")},
          {"scheduler", chosen_in(queue / "scheduler")}, {"read_ahead_kb", first_line(queue / "read_ahead_kb")},
          {"nr_requests", first_line(queue / "nr_requests")}, {"logical_block_size", first_line(queue / "logical_block_size")}};
}

}  // namespace

Json file_system_json(const fs::path& path) {
  if (path.empty()) return nullptr;
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(path, failed);
  Json json = mount_of(real.string());
  if (!json.is_null()) json["block_device"] = block_device_of(real);
  return json;
}

}  // namespace feedrate
