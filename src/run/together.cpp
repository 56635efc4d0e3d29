#include "run/together.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <mutex>
#include <utility>

#include "measure/clock.h"

namespace feedrate::run {
namespace {

std::int64_t ns(double seconds) { return std::llround(1e9 * seconds); }

JobEnd run_one(const Job& job, const ProgressSink& progress, std::stop_token stop) {
  CellResult result = job.runner->run(job.cell, progress, std::move(stop));
  return {std::move(result), measure::now_ns()};
}

// They were started together. What their threads read off the clock may differ by a second.
void set_common_start(std::vector<JobEnd>& ends) {
  const auto start_of = [](const JobEnd& end) { return end.result.started_at; };
  if (ends.empty()) return;
  const std::string first = start_of(*std::ranges::min_element(ends, {}, start_of));
  for (JobEnd& end : ends) end.result.started_at = first;
}

}  // namespace

Beginning beginning_of(const Measurement& m, std::int64_t started_ns) {
  const double begun_s = measure::seconds(m.window_start_ns - started_ns);
  return {std::max(0.0, begun_s - m.warmup_s), m.warmup_s};
}

SharedWindow appointment_of(std::int64_t now_ns, std::span<const Beginning> alone,
                            const RunLimits& limits) {
  // Windows open and end with a step: what is left over covers the longest steps' parts.
  constexpr double kStays = 1.1;
  double prepare_s = 0, warmup_s = 0;
  for (const Beginning& job : alone) {
    prepare_s += job.prepare_s;
    warmup_s = std::max(warmup_s, job.warmup_s);
  }
  warmup_s = std::max(limits.warmup_seconds, std::min(2 * warmup_s, limits.max_warmup_seconds));
  const std::int64_t opens_ns = now_ns + ns(2 * prepare_s + warmup_s);
  return {opens_ns, opens_ns + ns(kStays * limits.max_seconds)};
}

TimeSpan window_of(const Measurement& m) {
  return {m.window_start_ns, m.window_start_ns + ns(m.window_s)};
}

double common_share(std::span<const TimeSpan> spans) {
  TimeSpan common{std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::int64_t>::max()};
  std::int64_t longest = 0;
  for (const TimeSpan& span : spans) {
    common.from_ns = std::max(common.from_ns, span.from_ns);
    common.to_ns = std::min(common.to_ns, span.to_ns);
    longest = std::max(longest, span.to_ns - span.from_ns);
  }
  if (longest <= 0 || common.to_ns <= common.from_ns) return 0;
  return static_cast<double>(common.to_ns - common.from_ns) / static_cast<double>(longest);
}

std::vector<JobEnd> run_together(std::span<const Job> jobs, const JobsSink& progress,
                                 std::stop_token stop) {
  std::mutex mutex;
  std::vector<RunProgress> seen(jobs.size());  // under it
  std::stop_source all;
  const std::stop_callback forward(stop, [&all] { all.request_stop(); });
  std::vector<std::future<JobEnd>> running;
  std::vector<JobEnd> ends;
  try {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      // The kernel ends a job's processes with the thread that started them (ranks/children.h).
      running.push_back(std::async(std::launch::async, [&, i] {
        const ProgressSink sink = [&, i](const RunProgress& p) {
          const std::lock_guard lock(mutex);
          seen[i] = p;
        };
        return run_one(jobs[i], sink, all.get_token());
      }));
    }
    for (std::future<JobEnd>& job : running) {
      while (job.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
        std::vector<RunProgress> now;
        {
          const std::lock_guard lock(mutex);
          now = seen;
        }
        progress(now);
      }
      ends.push_back(job.get());
    }
  } catch (...) {
    all.request_stop();  // a thread could not be made, or memory ran out: no job goes on alone
    throw;
  }
  set_common_start(ends);
  return ends;
}

Overlap overlap_of(std::span<const JobEnd> ends, std::int64_t opens_ns) {
  Overlap found;
  std::vector<TimeSpan> windows;
  bool was_disturbed = false;
  for (const JobEnd& end : ends) {
    const bool measured = end.result.measurement.has_value();
    if (measured) windows.push_back(window_of(*end.result.measurement));
    if (!measured && end.at_ns < opens_ns) continue;
    ++found.jobs;
    was_disturbed = was_disturbed || !measured;
  }
  if (!was_disturbed) found.share = common_share(windows);
  return found;
}

void leave_out_each_other(std::span<JobEnd> ends) {
  for (JobEnd& end : ends)
    if (end.result.measurement) end.result.measurement->storage_other_read_bytes = -1;
  double all = 0;  // shares of the machine's CPUs
  for (const JobEnd& end : ends) {
    if (!end.result.measurement) continue;
    const measure::HostUse& use = end.result.measurement->machines.front().use;
    if (use.cpu_busy < 0) return;  // unknown
    all += use.cpu_busy - use.cpu_other_processes;
  }
  for (JobEnd& end : ends) {
    if (!end.result.measurement) continue;
    Measurement& m = *end.result.measurement;
    measure::HostUse& use = m.machines.front().use;
    use.cpu_other_processes = std::max(0.0, use.cpu_busy - all);
    use.usable_cpus_other_processes = use.cpu_other_processes;  // they may use the same CPUs
    use.usable_cpus_kernel_threads = use.cpu_kernel_threads;
    use.usable_cpus_interrupts = use.cpu_interrupts;
    // What a second of one job holds of the others is unknown.
    for (measure::HostSample& sample : m.host_series) sample.use.cpu_other_processes = -1;
  }
}

}  // namespace feedrate::run
