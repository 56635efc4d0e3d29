#include "experiment/environment.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <opencv2/core/version.hpp>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "codec/codec.h"
#include "measure/clock.h"
#include "storage/manifest.h"
#include "storage/whole_file.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of "key : value" in a file of such lines.
std::string value_in(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const auto colon = line.find(':');
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::string os_name() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("PRETTY_NAME=\"", 0) == 0) return line.substr(13, line.size() - 14);
  }
  return "";
}

Json cpu() {
  return {{"model", value_in("/proc/cpuinfo", "model name")}, {"cores", allowed_cpus()},
          {"l3_cache", first_line("/sys/devices/system/cpu/cpu0/cache/index3/size")},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")}};
}

// The mount that holds `path`: the longest mount point that is a prefix of it.
Json file_system(const fs::path& path) {
  if (path.empty()) return nullptr;
  std::error_code failed;
  const std::string real = fs::weakly_canonical(path, failed).string();
  std::ifstream mounts("/proc/self/mounts");
  Json best = nullptr;
  std::size_t longest = 0;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string device, point, type, options;
    fields >> device >> point >> type >> options;
    const bool inside = real.rfind(point, 0) == 0 && (point == "/" || real.size() == point.size() || real[point.size()] == '/');
    if (!inside || point.size() < longest) continue;
    longest = point.size();
    best = {{"type", type}, {"device", device}, {"mount_options", options}};
  }
  return best;
}

// Of the program and the modules that lie beside it.
std::string binary_xxh3() {
  std::vector<fs::path> files{"/proc/self/exe"};
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const auto& entry : fs::directory_iterator(program / ".." / "lib", none)) {
    if (entry.path().filename().string().starts_with("libfeedrate_") && entry.path().extension() == ".so") files.push_back(entry.path());
  }
  std::sort(files.begin() + 1, files.end());
  std::string hashes;
  for (const fs::path& path : files) hashes += to_hex(hash_file(path).xxh3);
  return to_hex(xxh3_of(std::as_bytes(std::span(hashes))));
}

}  // namespace

Json capture_environment(const fs::path& data) {
  utsname kernel{};
  uname(&kernel);
  return {{"feedrate_version", version()},
          {"git_commit", git_commit()},
          {"binary_xxh3", binary_xxh3()},
          {"compiler", __VERSION__},
          {"opencv", CV_VERSION},
          {"decoders", codec_libraries()},
          {"host", kernel.nodename},
          {"kernel", std::string(kernel.sysname) + " " + kernel.release},
          {"os", os_name()},
          {"cpu", cpu()},
          {"memory_total", value_in("/proc/meminfo", "MemTotal")},
          {"nvidia_driver", first_line("/proc/driver/nvidia/version")},
          {"file_system", file_system(data)}};
}

}  // namespace feedrate
