#include "base/proc_files.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <system_error>

namespace feedrate {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string value_in(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const auto colon = line.find(':');
    const auto start =
        colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

std::string chosen_in(const fs::path& path) {
  const std::string line = first_line(path);
  const auto open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos
             ? line
             : line.substr(open + 1, close - open - 1);
}

std::string link_name(const fs::path& link) {
  std::error_code none;
  return fs::read_symlink(link, none).filename().string();
}

std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    const bool numbered = name.size() > prefix.size() &&
                          std::isdigit(static_cast<unsigned char>(name[prefix.size()])) != 0;
    if (name.starts_with(prefix) && (prefix.empty() || numbered)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace feedrate
