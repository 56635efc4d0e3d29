#include "measure/host_monitor.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

#include "measure/clock.h"

namespace feedrate {
namespace {

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123456" -> 123456
std::int64_t pressure_total(const char* path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return -1;
  const auto at = line.find("total=");
  return at == std::string::npos ? -1 : std::stoll(line.substr(at + 6));
}

std::int64_t process_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

double pressure_share(std::int64_t from_us, std::int64_t to_us, double wall_s) {
  return from_us < 0 || to_us < 0 || wall_s <= 0 ? -1 : static_cast<double>(to_us - from_us) * 1e-6 / wall_s;
}

}  // namespace

HostCounters read_host_counters() {
  HostCounters c;
  std::ifstream stat("/proc/stat");
  std::string cpu;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, irq = 0, softirq = 0;
  stat >> cpu >> user >> nice >> system >> idle >> c.iowait_ticks >> irq >> softirq >> c.steal_ticks;
  c.busy_ticks = user + nice + system + irq + softirq;
  c.all_ticks = c.busy_ticks + idle + c.iowait_ticks + c.steal_ticks;
  c.process_cpu_ns = process_cpu_ns();
  c.psi_cpu_us = pressure_total("/proc/pressure/cpu");
  c.psi_io_us = pressure_total("/proc/pressure/io");
  c.at_ns = now_ns();
  return c;
}

HostUse host_use(const HostCounters& from, const HostCounters& to) {
  HostUse use;
  const double wall_s = seconds(to.at_ns - from.at_ns);
  const double ticks = static_cast<double>(to.all_ticks - from.all_ticks);
  if (ticks > 0) {
    use.cpu_busy = static_cast<double>(to.busy_ticks - from.busy_ticks) / ticks;
    use.cpu_iowait = static_cast<double>(to.iowait_ticks - from.iowait_ticks) / ticks;
    use.cpu_steal = static_cast<double>(to.steal_ticks - from.steal_ticks) / ticks;
    const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    const double own = seconds(to.process_cpu_ns - from.process_cpu_ns) / (ticks * tick_s);
    use.cpu_other_processes = std::max(0.0, use.cpu_busy - own);
  }
  use.psi_cpu_some = pressure_share(from.psi_cpu_us, to.psi_cpu_us, wall_s);
  use.psi_io_some = pressure_share(from.psi_io_us, to.psi_io_us, wall_s);
  return use;
}

}  // namespace feedrate
