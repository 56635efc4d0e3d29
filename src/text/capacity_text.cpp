#include "text/capacity_text.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

std::string gpus_text(const judge::GpusFed& fed) {
  std::string text = (fed.at_least ? "at least " : "") + session::counted_gpus(fed.gpus);
  if (!fed.at_least && fed.low != fed.high) text += format(" (95 %%: %d to %d)", fed.low, fed.high);
  return text;
}

std::string beside_steps(double host_cpu_ms) {
  return host_cpu_ms > 0 ? format(" beside steps of %g ms of CPU", host_cpu_ms) : "";
}

// Beyond the largest number: `reached`, the most that was delivered; `client`: from memory.
std::string limit_text(double reached, double client, int workers, double host_cpu_ms) {
  constexpr double kClearlyMore = 1.1;
  if (client >= kClearlyMore * reached)
    return format("the storage: it gave %s img/s, memory %s", thousands(reached).c_str(),
                  thousands(client).c_str());
  return format(
      "this machine: from memory its workers (%d a GPU)%s manage %s img/s, from the storage %s. "
      "Use more CPUs, more --workers, or --decoder raw-read, which reads and does not decode",
      workers, beside_steps(host_cpu_ms).c_str(), thousands(client).c_str(),
      thousands(reached).c_str());
}

double most_delivered(const session::Readings& readings) {
  double most = 0;
  for (const auto& [gpus, runs] : readings)
    most = std::max(most, session::mean_of(runs).imgs_per_s);
  return most;
}

}  // namespace

void CapacityAnswer::heading() const {
  std::printf("EMULATED GPUs: %s, %s img/s each (%s); %s\n", device_.name.c_str(),
              thousands(device_.imgs_per_s).c_str(), device_.source.c_str(),
              device::kEmulation.data());
  std::printf(
      "a step of %d images takes %.1f ms, %g ms of CPU on the host, and %g ms to average "
      "the gradients\n",
      settings_.batch_size, 1e3 * settings_.batch_size / device_.imgs_per_s, host_cpu_ms_,
      settings_.emulation.all_reduce_ms);
  std::printf("reading: --io %s, depth %d, %d worker%s a GPU%s, %s bytes a sample\n\n",
              settings_.io.c_str(), settings_.io_depth, settings_.workers,
              settings_.workers == 1 ? "" : "s", settings_.raw_read ? ", not decoded" : "",
              thousands(found_.bytes_per_sample).c_str());
}

// Each row is the mean of the runs with so many GPUs; "-": no run knows it.
void CapacityAnswer::table() const {
  std::printf("means of the runs with so many GPUs:\n");
  std::printf("%6s %6s %10s %10s %8s %9s %9s\n", "GPUs", "AU", "img/s", "needed", "MB/s", "reads/s",
              "p99 ms");
  for (const auto& [gpus, runs] : found_.search.runs()) {
    const session::Reading reading = session::mean_of(found_.readings.at(gpus));
    const std::string p99 = reading.p99_ms ? format("%.3f", *reading.p99_ms) : "-";
    std::printf("%6d %5.1f%% %10s %10s %8.1f %9s %9s\n", gpus,
                100 * found_.search.utilisation(gpus), thousands(reading.imgs_per_s).c_str(),
                thousands(gpus * device_.imgs_per_s).c_str(), 1e-6 * reading.bytes_per_s,
                thousands(reading.reads_per_s).c_str(), p99.c_str());
  }
}

void CapacityAnswer::fed(double share) const {
  const judge::GpusFed fed = found_.search.fed(share);
  const double rate = share * fed.gpus * device_.imgs_per_s;
  std::printf("AU of %.0f %% or more: %s", 100 * share, gpus_text(fed).c_str());
  if (fed.gpus > 0) {
    std::printf(", which need %.1f MB/s, %s files/s", 1e-6 * rate * found_.bytes_per_sample,
                thousands(rate).c_str());
  }
  std::printf("\n");
}

void CapacityAnswer::answers() const {
  std::printf("\n");
  fed(session::kLeastUtilisation);
  fed(session::kBetterUtilisation);
  if (found_.without_cpu) {
    std::printf("steps that take no CPU on the host: %s at %.0f %%\n",
                gpus_text(found_.without_cpu->fed(session::kLeastUtilisation)).c_str(),
                100 * session::kLeastUtilisation);
  }
  if (!found_.limit.empty()) std::printf("more GPUs were not tried: %s\n", found_.limit.c_str());
}

void CapacityAnswer::print() const {
  if (found_.interrupted && found_.readings.empty()) return;
  heading();
  table();
  if (!found_.interrupted) answers();
  std::fputs(page_cache_line(found_.seen).c_str(), stdout);
  for (const judge::Flag& flag : found_.seen.flags()) std::fputs(flag_line(flag).c_str(), stdout);
  std::fflush(stdout);
}

void CapacityAnswer::print_client(const session::ClientLimit& client) const {
  for (const judge::Flag& flag : client.seen.flags()) {
    if (flag.severity == judge::Severity::serious) std::fputs(flag_line(flag).c_str(), stdout);
  }
  const int gpus = found_.search.runs().rbegin()->first;
  std::printf(
      "from memory this machine alone: %s img/s (%d GPUs' workers%s, %zu samples), "
      "%d GPUs at %.0f %%\n",
      thousands(client.imgs_per_s).c_str(), gpus, beside_steps(host_cpu_ms_).c_str(),
      client.samples,
      static_cast<int>(client.imgs_per_s / (session::kLeastUtilisation * device_.imgs_per_s)),
      100 * session::kLeastUtilisation);
  if (found_.search.fed(session::kLeastUtilisation).at_least) return;
  std::printf("what limits beyond: %s\n",
              limit_text(most_delivered(found_.readings), client.imgs_per_s, settings_.workers,
                         host_cpu_ms_)
                  .c_str());
}

void CapacityAnswer::print_proviso() const {
  std::printf(
      "\nAU is computed as MLPerf Storage defines it, for each run. The GPUs are emulated: this is "
      "no result of that or any consortium's benchmark.\n");
}

}  // namespace feedrate::text
