#include "measure/host_counters.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "measure/affinity.h"
#include "measure/clock.h"

namespace feedrate::measure {
namespace {

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123456" -> 123456
std::int64_t pressure_total(const char* path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return -1;
  const auto at = line.find("total=");
  return at == std::string::npos ? -1 : std::stoll(line.substr(at + 6));
}

// The number after `key` in a file of "key number" lines.
std::int64_t number_in(const char* path, const std::string& wanted) {
  std::ifstream file(path);
  for (std::string key, rest; file >> key && std::getline(file, rest);) {
    if (key == wanted) return std::stoll(rest);
  }
  return -1;
}

// Whole disks: not partitions, and not made of memory or files. A device-mapper or RAID device does
// not count, as the disks that it is made of do.
bool is_disk(const std::string& name) {
  for (const char* other : {"loop", "ram", "zram", "dm-", "md"}) {
    if (name.starts_with(other)) return false;
  }
  std::error_code none;
  return std::filesystem::exists("/sys/block/" + name, none);
}

std::int64_t disk_read_bytes() {
  std::ifstream file("/proc/diskstats");
  if (!file) return -1;
  std::int64_t bytes = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::int64_t major = 0, minor = 0, reads = 0, merged = 0, sectors = 0;
    std::string name;
    if (fields >> major >> minor >> name >> reads >> merged >> sectors && sectors > 0 &&
        is_disk(name))
      bytes += sectors * 512;
  }
  return bytes;
}

std::int64_t network_received_bytes() {
  std::ifstream file("/proc/net/dev");
  if (!file) return -1;
  std::int64_t all = 0;
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(' ') == line.find("lo:")) continue;
    std::int64_t bytes = 0;
    if (std::istringstream(line.substr(colon + 1)) >> bytes) all += bytes;
  }
  return all;
}

// Mean of the first clocks that the kernel reports; a virtual machine mostly has none.
double cpu_mhz() {
  double sum = 0;
  int count = 0;
  for (int policy = 0; policy < 8; ++policy) {
    std::ifstream file("/sys/devices/system/cpu/cpufreq/policy" + std::to_string(policy) +
                       "/scaling_cur_freq");
    double khz = 0;
    if (file >> khz) sum += khz / 1000, ++count;
  }
  return count == 0 ? -1 : sum / count;
}

// A line of /proc/stat: "cpu" for all CPUs, "cpu0" for one.
struct CpuTicks {
  std::string name;
  std::int64_t busy = 0, iowait = 0, steal = 0, irq = 0, interrupts = 0, all = 0;
};

std::optional<CpuTicks> next_cpu(std::istream& stat) {
  CpuTicks cpu;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, softirq = 0;
  if (!(stat >> cpu.name >> user >> nice >> system >> idle >> cpu.iowait >> cpu.irq >> softirq >>
        cpu.steal) ||
      !cpu.name.starts_with("cpu"))
    return std::nullopt;
  stat.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  cpu.interrupts = cpu.irq + softirq;
  cpu.busy = user + nice + system + cpu.interrupts;
  cpu.all = cpu.busy + idle + cpu.iowait + cpu.steal;
  return cpu;
}

double tick_s() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

// The kernel's own words of iowait: it may fall. No share is less than nothing, or above all.
double share(std::int64_t from, std::int64_t to, double all) {
  return std::clamp(static_cast<double>(to - from) / all, 0.0, 1.0);
}

// Time that the CPUs were busy, but not with this process, as a share of `all_ticks`.
double others(double busy_ticks, double all_ticks, std::int64_t own_ns) {
  return all_ticks <= 0
             ? -1
             : std::max(0.0, busy_ticks / all_ticks - seconds(own_ns) / (all_ticks * tick_s()));
}

// Another machine's counters begin anew: a virtual machine that has moved.
bool are_ticks_sound(const HostCounters& from, const HostCounters& to) {
  return to.all_ticks > from.all_ticks && to.busy_ticks >= from.busy_ticks &&
         to.steal_ticks >= from.steal_ticks && to.interrupt_ticks >= from.interrupt_ticks;
}

// Shares of the ticks that passed. -1: unknown.
struct KernelsPart {
  double all = -1;
  double interrupts = -1;  // of it, see HostUse::cpu_interrupts
};

// The kernel's part of what others took of those CPUs, a share of `all_ticks`.
KernelsPart kernels_part(double others, std::int64_t threads_from_ns, std::int64_t threads_to_ns,
                         std::int64_t interrupt_ticks, double all_ticks, bool accounts_interrupts) {
  if (others < 0 || threads_from_ns < 0 || threads_to_ns < threads_from_ns) return {};
  const double threads = seconds(threads_to_ns - threads_from_ns) / tick_s() / all_ticks;
  const auto interrupts = static_cast<double>(std::max<std::int64_t>(0, interrupt_ticks));
  const double all = std::min(others, threads + interrupts / all_ticks);
  return {all, accounts_interrupts ? 0 : std::max(0.0, all - threads)};
}

// `all_ticks`, `usable_ticks`: that passed on all CPUs, and on those that the process may use.
void add_others(const HostCounters& from, const HostCounters& to, double all_ticks,
                double usable_ticks, HostUse& use) {
  const std::int64_t own_ns = to.process_cpu_ns - from.process_cpu_ns;
  use.cpu_other_processes =
      others(static_cast<double>(to.busy_ticks - from.busy_ticks), all_ticks, own_ns);
  use.usable_cpus_other_processes = others(
      static_cast<double>(to.usable_busy_ticks - from.usable_busy_ticks), usable_ticks, own_ns);
  const KernelsPart kernel =
      kernels_part(use.cpu_other_processes, from.kernel_threads_ns, to.kernel_threads_ns,
                   to.interrupt_ticks - from.interrupt_ticks, all_ticks, to.accounts_interrupts);
  const KernelsPart usable_kernel = kernels_part(
      use.usable_cpus_other_processes, from.usable_kernel_threads_ns, to.usable_kernel_threads_ns,
      to.usable_interrupt_ticks - from.usable_interrupt_ticks, usable_ticks,
      to.accounts_interrupts);
  use.cpu_kernel_threads = kernel.all, use.cpu_interrupts = kernel.interrupts;
  use.usable_cpus_kernel_threads = usable_kernel.all;
  use.usable_cpus_interrupts = usable_kernel.interrupts;
}

double without_kernel(double others, double kernel) {
  return others < 0 ? -1 : others - std::clamp(kernel, 0.0, others);
}

double with_interrupts(double neighbours, double interrupts, double others) {
  return neighbours < 0 ? -1 : std::min(others, neighbours + std::max(0.0, interrupts));
}

double per_second(std::int64_t from, std::int64_t to, double wall_s, double unit) {
  return from < 0 || to < from || wall_s <= 0 ? -1 : static_cast<double>(to - from) * unit / wall_s;
}

// The clock is read after the counters, not with them: over stretches as short as a block a share
// of the time can come out above one.
double pressure(std::int64_t from_us, std::int64_t to_us, double wall_s) {
  return std::min(1.0, per_second(from_us, to_us, wall_s, 1e-6));
}

}  // namespace

std::int64_t process_read_bytes() { return number_in("/proc/self/io", "read_bytes:"); }

std::vector<std::int64_t> read_stolen_ns() {
  std::ifstream stat("/proc/stat");
  std::vector<std::int64_t> stolen;
  const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  next_cpu(stat);  // all of them
  while (const auto cpu = next_cpu(stat)) stolen.push_back(cpu->steal * tick_ns);
  return stolen;
}

HostCounters read_host_counters() {
  HostCounters c;
  std::ifstream stat("/proc/stat");
  if (const auto all = next_cpu(stat))
    c.busy_ticks = all->busy, c.iowait_ticks = all->iowait, c.steal_ticks = all->steal,
    c.interrupt_ticks = all->interrupts, c.all_ticks = all->all,
    c.accounts_interrupts = all->irq > 0;
  std::set<std::string> usable;
  for (const int cpu : usable_cpus()) usable.insert("cpu" + std::to_string(cpu));
  while (const auto cpu = next_cpu(stat)) {
    if (usable.contains(cpu->name))
      c.usable_busy_ticks += cpu->busy, c.usable_interrupt_ticks += cpu->interrupts,
          c.usable_all_ticks += cpu->all;
  }
  c.process_cpu_ns = measure::process_cpu_ns();
  c.psi_cpu_us = pressure_total("/proc/pressure/cpu");
  c.psi_io_us = pressure_total("/proc/pressure/io");
  c.psi_memory_us = pressure_total("/proc/pressure/memory");
  c.quota = quota_periods();
  c.disk_read_bytes = disk_read_bytes();
  c.network_received_bytes = network_received_bytes();
  c.process_read_bytes = process_read_bytes();
  const std::int64_t kib = number_in("/proc/meminfo", "MemAvailable:");
  c.memory_available_bytes = kib < 0 ? -1 : kib * 1024;
  c.cpu_mhz = cpu_mhz();
  c.at_ns = now_ns();
  return c;
}

double HostUse::cpu_neighbours() const {
  return without_kernel(cpu_other_processes, cpu_kernel_threads);
}

double HostUse::usable_cpus_neighbours() const {
  return without_kernel(usable_cpus_other_processes, usable_cpus_kernel_threads);
}

double HostUse::cpu_neighbours_most() const {
  return with_interrupts(cpu_neighbours(), cpu_interrupts, cpu_other_processes);
}

double HostUse::usable_cpus_neighbours_most() const {
  return with_interrupts(usable_cpus_neighbours(), usable_cpus_interrupts,
                         usable_cpus_other_processes);
}

HostUse host_use(const HostCounters& from, const HostCounters& to) {
  HostUse use;
  const double wall_s = seconds(to.at_ns - from.at_ns);
  const double ticks = static_cast<double>(to.all_ticks - from.all_ticks);
  if (are_ticks_sound(from, to)) {
    use.cpu_busy = share(from.busy_ticks, to.busy_ticks, ticks);
    use.cpu_iowait = share(from.iowait_ticks, to.iowait_ticks, ticks);
    use.cpu_steal = share(from.steal_ticks, to.steal_ticks, ticks);
    add_others(from, to, ticks, static_cast<double>(to.usable_all_ticks - from.usable_all_ticks),
               use);
  }
  use.psi_cpu_some = pressure(from.psi_cpu_us, to.psi_cpu_us, wall_s);
  use.psi_io_some = pressure(from.psi_io_us, to.psi_io_us, wall_s);
  use.psi_memory_some = pressure(from.psi_memory_us, to.psi_memory_us, wall_s);
  use.cpu_quota_stopped = quota_stopped(from.quota, to.quota);
  use.disk_read_bytes_per_s = per_second(from.disk_read_bytes, to.disk_read_bytes, wall_s, 1);
  use.network_receive_bytes_per_s =
      per_second(from.network_received_bytes, to.network_received_bytes, wall_s, 1);
  use.process_cpu_s = 1e-9 * static_cast<double>(to.process_cpu_ns - from.process_cpu_ns);
  if (from.process_read_bytes >= 0 && to.process_read_bytes >= from.process_read_bytes) {
    use.storage_read_bytes = static_cast<double>(to.process_read_bytes - from.process_read_bytes);
  }
  use.memory_available_bytes = static_cast<double>(to.memory_available_bytes);
  use.cpu_mhz = to.cpu_mhz;
  return use;
}

void advance(HostCounters& at, const HostCounters& from, const HostCounters& to) {
  constexpr std::int64_t HostCounters::* kCounted[] = {&HostCounters::at_ns,
                                                       &HostCounters::busy_ticks,
                                                       &HostCounters::iowait_ticks,
                                                       &HostCounters::steal_ticks,
                                                       &HostCounters::interrupt_ticks,
                                                       &HostCounters::all_ticks,
                                                       &HostCounters::usable_busy_ticks,
                                                       &HostCounters::usable_interrupt_ticks,
                                                       &HostCounters::usable_all_ticks,
                                                       &HostCounters::process_cpu_ns};
  constexpr std::int64_t HostCounters::* kKnownOrNot[] = {&HostCounters::kernel_threads_ns,
                                                          &HostCounters::usable_kernel_threads_ns,
                                                          &HostCounters::psi_cpu_us,
                                                          &HostCounters::psi_io_us,
                                                          &HostCounters::psi_memory_us,
                                                          &HostCounters::disk_read_bytes,
                                                          &HostCounters::network_received_bytes,
                                                          &HostCounters::process_read_bytes};
  for (const auto counter : kCounted) at.*counter += to.*counter - from.*counter;
  for (const auto counter : kKnownOrNot) {
    const bool is_known = at.*counter >= 0 && from.*counter >= 0 && to.*counter >= from.*counter;
    at.*counter = is_known ? at.*counter + to.*counter - from.*counter : -1;
  }
  const std::size_t groups = std::min({at.quota.size(), from.quota.size(), to.quota.size()});
  at.quota.resize(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    at.quota[g].all += to.quota[g].all - from.quota[g].all;
    at.quota[g].stopped += to.quota[g].stopped - from.quota[g].stopped;
  }
  at.memory_available_bytes = to.memory_available_bytes;
  at.cpu_mhz = to.cpu_mhz;
  at.accounts_interrupts = to.accounts_interrupts;
}

}  // namespace feedrate::measure
