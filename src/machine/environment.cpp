#include "machine/environment.h"

#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <opencv2/core/version.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/proc_files.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "codec/libraries.h"
#include "machine/hardware.h"

namespace feedrate::machine {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string os_name() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("PRETTY_NAME=\"", 0) == 0) return line.substr(13, line.size() - 14);
  }
  return "";
}

// What was typed, the program's name left out.
Json command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  Json words = Json::array();
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

Json whole_text(const fs::path& path) {
  if (path.empty()) return nullptr;
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string binary_hash() {
  std::vector<fs::path> files{"/proc/self/exe"};
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const auto& entry : fs::directory_iterator(program / ".." / "lib", none)) {
    if (entry.path().filename().string().starts_with("libfeedrate_") &&
        entry.path().extension() == ".so")
      files.push_back(entry.path());
  }
  std::sort(files.begin() + 1, files.end());
  std::string hashes;
  for (const fs::path& path : files) hashes += to_hex(hash_file(path).xxh3);
  return to_hex(xxh3_of(hashes));
}

Json capture_environment(const fs::path& data, const fs::path& config) {
  utsname kernel{};
  uname(&kernel);
  return {{"feedrate_version", version()},
          {"git_commit", git_commit()},
          {"binary_xxh3", binary_hash()},
          {"compiler", __VERSION__},
          {"opencv", CV_VERSION},
          {"decoders", codec::codec_libraries()},
          {"host", kernel.nodename},
          {"kernel", std::string(kernel.sysname) + " " + kernel.release},
          {"os", os_name()},
          {"libc", gnu_get_libc_version()},
          {"cpu", cpu_json()},
          {"memory", memory_json()},
          {"limits", group_limits_json()},
          {"network", network_json()},
          {"nvidia_driver", first_line("/proc/driver/nvidia/version")},
          {"gpus", gpus_json()},
          {"file_system", file_system_json(data)},
          {"command", command_line()},
          {"config", whole_text(config)}};
}

}  // namespace feedrate::machine
