#include "measure/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "base/error.h"

namespace feedrate::measure {

// Asks for the whole process: a thread that asked for itself would get the CPU that it is pinned
// to.
std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(getpid(), sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::string cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text.append("-").append(std::to_string(cpus[last]));
    i = last + 1;
  }
  return text;
}

namespace {

// Where a CPU lies: NUMA node, package, core; 0 where that is unknown.
std::array<int, 4> place_of(int cpu, const std::filesystem::path& system) {
  const std::filesystem::path folder = system / ("cpu" + std::to_string(cpu));
  std::array<int, 4> place = {0, 0, 0, cpu};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos &&
        name.size() > 4)
      place[0] = std::stoi(name.substr(4));
  }
  std::ifstream(folder / "topology/physical_package_id") >> place[1];
  std::ifstream(folder / "topology/core_id") >> place[2];
  return place;
}

}  // namespace

std::vector<int> neighbours_together(std::vector<int> cpus, const std::filesystem::path& system) {
  std::vector<std::array<int, 4>> places;
  for (const int cpu : cpus) places.push_back(place_of(cpu, system));
  std::sort(places.begin(), places.end());
  std::transform(places.begin(), places.end(), cpus.begin(),
                 [](const auto& place) { return place[3]; });
  return cpus;
}

bool may_use_all_cpus() {
  return static_cast<long>(usable_cpus().size()) == sysconf(_SC_NPROCESSORS_ONLN);
}

void keep_to_cpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set,
                    &set);  // where the kernel refuses they stay shared, which the record shows
}

void pin_this_thread(int n) {
  const std::vector<int> cpus = usable_cpus();
  cpu_set_t one;
  CPU_ZERO(&one);
  if (!cpus.empty()) CPU_SET(cpus[static_cast<std::size_t>(n) % cpus.size()], &one);
  if (const int failed = pthread_setaffinity_np(pthread_self(), sizeof one, &one); failed != 0) {
    throw Error("--pin-workers", std::strerror(failed), "use --pin-workers off");
  }
}

int allowed_cpus() { return std::max(1, static_cast<int>(usable_cpus().size())); }

}  // namespace feedrate::measure
