#include "experiment/hardware.h"

#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <string>

#include "experiment/proc_files.h"
#include "measure/clock.h"
#include "measure/control_group.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path kCpus = "/sys/devices/system/cpu";

// Each cache of CPU 0: "L1d 48K".
Json caches() {
  Json all = Json::array();
  for (const fs::path& cache : entries(kCpus / "cpu0/cache", "index")) {
    const std::string type = first_line(cache / "type");
    all.push_back(std::string("L").append(first_line(cache / "level")) + (type == "Data" ? "d " : type == "Instruction" ? "i " : " ") + first_line(cache / "size"));
  }
  return all;
}

// Different values of one file of every CPU.
std::size_t different(const char* file) {
  std::set<std::string> values;
  for (const fs::path& cpu : entries(kCpus, "cpu")) {
    if (const std::string value = first_line(cpu / file); !value.empty()) values.insert(value);
  }
  return values.size();
}

}  // namespace

Json cpu_json() {
  return {{"model", value_in("/proc/cpuinfo", "model name")}, {"cores", allowed_cpus()},
          {"online", first_line(kCpus / "online")}, {"sockets", different("topology/physical_package_id")},
          {"caches", caches()}, {"l3_cache", first_line(kCpus / "cpu0/cache/index3/size")},
          {"numa_nodes", entries("/sys/devices/system/node", "node").size()},
          {"smt", first_line(kCpus / "smt/active")}, {"governor", first_line(kCpus / "cpu0/cpufreq/scaling_governor")},
          {"max_khz", first_line(kCpus / "cpu0/cpufreq/cpuinfo_max_freq")}, {"turbo_off", first_line(kCpus / "intel_pstate/no_turbo")}};
}

Json memory_json() {
  return {{"total", value_in("/proc/meminfo", "MemTotal")}, {"swap", value_in("/proc/meminfo", "SwapTotal")},
          {"transparent_huge_pages", chosen_in("/sys/kernel/mm/transparent_hugepage/enabled")}};
}

Json limits_json() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const fs::path group = control_groups().front();
  return {{"memory_max", first_line(group / "memory.max")}, {"cpu_max", first_line(group / "cpu.max")},
          {"cpus", first_line(group / "cpuset.cpus.effective")}, {"io_max", first_line(group / "io.max")}, {"open_files", files.rlim_cur}};
}

Json network_json() {
  Json all = Json::array();
  for (const fs::path& net : entries("/sys/class/net", "")) {
    if (net.filename() == "lo" || first_line(net / "operstate") != "up") continue;
    all.push_back({{"name", net.filename().string()}, {"speed_mbit_s", first_line(net / "speed")}, {"mtu", first_line(net / "mtu")},
                   {"driver", link_name(net / "device/driver")}});
  }
  return all;
}

Json gpus_json() {
  Json all = Json::array();
  for (const fs::path& gpu : entries("/proc/driver/nvidia/gpus", "")) all.push_back(value_in(gpu / "information", "Model"));
  return all;
}

}  // namespace feedrate
