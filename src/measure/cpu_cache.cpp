#include "measure/cpu_cache.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace feedrate::measure {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// "32768K" and the like.
std::uint64_t size_from(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (*end == 'K') return number << 10;
  return *end == 'M' ? number << 20 : number;
}

// One cache of a CPU. Several CPUs may share it: `cpus` names them, and so the cache.
struct Cache {
  int level = 0;
  std::string cpus;
  std::uint64_t bytes = 0;
};

Cache last_of(const fs::path& cpu) {
  Cache last;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(cpu / "cache", failed)) {
    const int level = std::atoi(text_of(entry.path() / "level").c_str());
    if (level <= last.level || text_of(entry.path() / "type") == "Instruction") continue;
    last = {level, text_of(entry.path() / "shared_cpu_list"),
            size_from(text_of(entry.path() / "size"))};
  }
  return last;
}

}  // namespace

std::uint64_t last_level_cache_bytes(const fs::path& system) {
  std::map<std::string, std::uint64_t> caches;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(system, failed)) {
    const Cache last = last_of(entry.path());
    if (last.level > 0) caches[last.cpus] = last.bytes;
  }
  std::uint64_t all = 0;
  for (const auto& [cpus, bytes] : caches) all += bytes;
  return all;
}

}  // namespace feedrate::measure
