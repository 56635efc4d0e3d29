#include <algorithm>
#include <cmath>
#include <vector>

#include "experiment/flag_list.h"

namespace feedrate {
namespace {

// How much a clock's first and last third differ, as a share of the faster; 0 for fewer than three readings.
double change_of(std::vector<double> readings) {
  std::erase_if(readings, [](double mhz) { return mhz <= 0; });
  const std::size_t third = readings.size() / 3;
  if (third == 0) return 0;
  double first = 0, last = 0;
  for (std::size_t i = 0; i < third; ++i) first += readings[i], last += readings[readings.size() - 1 - i];
  return std::abs(first - last) / std::max(first, last);
}

// Of a GPU that was not at its own pace: which, and for how much of the time.
void flag_gpu(FlagList& flags, std::size_t number, const RankResult& rank) {
  constexpr std::uint64_t kHeldBack = kThrottleHardware | kThrottleThermal | kThrottleHot | kThrottlePowerBrake;
  std::size_t held_back = 0, capped = 0;
  std::uint64_t reasons = 0;
  std::vector<double> clocks;
  for (const GpuSample& sample : rank.gpu) {
    held_back += (sample.state.throttle_reasons & kHeldBack) != 0;
    capped += (sample.state.throttle_reasons & kThrottlePowerCap) != 0;
    reasons |= sample.state.throttle_reasons & kHeldBack;
    clocks.push_back(sample.state.sm_mhz);
  }
  const auto share = [&](std::size_t some) { return percent(static_cast<double>(some) / static_cast<double>(rank.gpu.size())); };
  const std::string gpu = "the GPU of rank " + std::to_string(number);
  flags.add(held_back > 0, "throttled", "serious", gpu + " lowered its clocks for " + share(held_back) + " of the time: " + throttle_text(reasons),
            "see to its cooling and power, and measure again");
  flags.add(capped > 0, "power_capped", "note", gpu + " was at its power limit for " + share(capped) + " of the time",
            "say so with the result: its rate depends on the limit (nvidia-smi -q -d POWER)");
  flags.add(change_of(clocks) > 0.05, "clock_changed", "warning", "the SM clock of " + gpu + " changed by " + percent(change_of(clocks)) + " within the window",
            "warm up longer (--warmup-seconds), or lock the clocks (nvidia-smi -lgc)");
  flags.add(!rank.gpu_problem.empty(), "gpu_unseen", "note", "nothing can be seen of " + gpu + ": " + rank.gpu_problem,
            "whether it was throttled is unknown");
}

void flag_host(FlagList& flags, const RankResult& rank) {
  const HostUse& host = rank.host;
  // On a large machine the run's own CPUs may be crowded while nearly all of the others are idle.
  const double others = std::max(host.cpu_other_processes, host.usable_cpus_other_processes);
  flags.add(others > 0.10, "noisy_neighbour", "warning",
            "other processes took " + percent(others) + (others > host.cpu_other_processes ? " of the CPUs that it may use" : " of the CPUs"),
            "end them, or run on a quiet machine");
  flags.add(host.cpu_steal > 0.02, "cpu_steal", "warning",
            "the hypervisor took " + percent(host.cpu_steal) + " of the CPUs", "run on a machine of your own");
  flags.add(host.cpu_quota_stopped > 0.01, "cpu_quota", "warning",
            "the CPU quota of its control group stopped it in " + percent(host.cpu_quota_stopped) + " of the quota's periods",
            "raise the quota of the container or batch job (cpu.max), or say with the result what it is");
  flags.add(host.psi_memory_some > 0.01, "memory_pressure", "warning",
            "some task waited for memory for " + percent(host.psi_memory_some) + " of the time", "end other programs, or use a smaller cache or batch");
  std::vector<double> clocks;
  for (const HostSample& sample : rank.host_series) clocks.push_back(sample.use.cpu_mhz);
  flags.add(change_of(clocks) > 0.10, "clock_changed", "warning", "the CPUs' clocks changed by " + percent(change_of(clocks)) + " within the window",
            "warm up longer (--warmup-seconds), or set the governor to performance");
}

}  // namespace

void flag_machine(FlagList& flags, const std::vector<RankResult>& ranks) {
  flag_host(flags, ranks.front());
  for (std::size_t r = 0; r < ranks.size(); ++r) flag_gpu(flags, r, ranks[r]);
}

}  // namespace feedrate
