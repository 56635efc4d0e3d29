#include "measure/kernel_threads.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/proc_files.h"

namespace feedrate::measure {
namespace {

constexpr std::int64_t kIsKernelThread = 0x00200000;  // PF_KTHREAD of linux/sched.h

constexpr int kFieldsBeforeCpu = 16;  // between a thread's beginning and the CPU, of no use here

struct OneThread {
  std::int64_t pid = 0, began = 0;
  KernelThreads::Thread use;
};

// "12 (kworker/0:1) S 2 0 0 0 -1 69238880 0 0 0 0 3 45 ...". A name may hold spaces and brackets.
std::optional<OneThread> kernel_thread_in(const std::string& stat) {
  const auto open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos ||
      stat.compare(open + 1, 9, "ksoftirqd") == 0)
    return std::nullopt;
  std::istringstream fields(stat.substr(close + 1));
  std::string state;
  std::int64_t ppid = 0, group = 0, session = 0, terminal = 0, foreground = 0, flags = 0;
  std::int64_t faults[4] = {}, user = 0, system = 0, waited_for[2] = {}, rest[4] = {};
  OneThread thread;
  fields >> state >> ppid >> group >> session >> terminal >> foreground >> flags;
  for (std::int64_t& count : faults) fields >> count;
  fields >> user >> system;
  for (std::int64_t& ticks : waited_for) fields >> ticks;
  for (std::int64_t& number : rest) fields >> number;  // priority, nice, threads, itrealvalue
  if (!(fields >> thread.began) || (flags & kIsKernelThread) == 0) return std::nullopt;
  std::istringstream(stat) >> thread.pid;
  thread.use.ticks = user + system;
  std::string other;  // not all of these fit into 64 bits with a sign
  for (int n = 0; n < kFieldsBeforeCpu; ++n) fields >> other;
  if (int cpu = 0; fields >> cpu) thread.use.cpu = cpu;
  return thread;
}

}  // namespace

KernelThreads read_kernel_threads(const std::filesystem::path& proc) {
  KernelThreads found;
  for (const std::filesystem::path& folder : entries(proc, "")) {
    const std::string name = folder.filename().string();
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (const auto thread = kernel_thread_in(first_line(folder / "stat")))
      found.threads[{thread->pid, thread->began}] = thread->use;
  }
  return found;
}

std::int64_t cpu_ns_between(const KernelThreads& from, const KernelThreads& to,
                            std::span<const int> cpus) {
  if (from.threads.empty() || to.threads.empty()) return -1;
  std::int64_t ticks = 0;
  for (const auto& [id, now] : to.threads) {
    if (!cpus.empty() && std::ranges::find(cpus, now.cpu) == cpus.end()) continue;
    const auto before = from.threads.find(id);
    const std::int64_t then = before == from.threads.end() ? 0 : before->second.ticks;
    ticks += std::max<std::int64_t>(0, now.ticks - then);
  }
  return ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

}  // namespace feedrate::measure
