#include "measure/cpu_cache.h"

#include <cstdlib>
#include <map>
#include <string>

#include "base/proc_files.h"

namespace feedrate::measure {
namespace {

namespace fs = std::filesystem;

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
  for (const fs::path& cache : entries(cpu / "cache", "index")) {
    const int level = std::atoi(first_line(cache / "level").c_str());
    if (level <= last.level || first_line(cache / "type") == "Instruction") continue;
    last = {level, first_line(cache / "shared_cpu_list"), size_from(first_line(cache / "size"))};
  }
  return last;
}

}  // namespace

std::uint64_t last_level_cache_bytes(const fs::path& system) {
  std::map<std::string, std::uint64_t> caches;
  for (const fs::path& cpu : entries(system, "cpu")) {
    const Cache last = last_of(cpu);
    if (last.level > 0) caches[last.cpus] = last.bytes;
  }
  std::uint64_t all = 0;
  for (const auto& [cpus, bytes] : caches) all += bytes;
  return all;
}

}  // namespace feedrate::measure
