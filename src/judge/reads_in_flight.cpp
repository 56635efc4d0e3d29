#include "judge/reads_in_flight.h"

#include <algorithm>

#include "base/text.h"
#include "storage/container.h"

namespace feedrate::judge {
namespace {

// Reads that go on by themselves; other engines read when the worker asks for the bytes.
bool read_beside_each_other(const plan::CellSettings& settings) {
  return settings.io.starts_with("uring");
}

double count_of(const plan::CellSettings& settings) {
  return static_cast<double>(std::max(settings.workers, 1)) * settings.reads_of_worker() *
         settings.gpus;
}

double mean_ms(const measure::LatencyHistogram& reads) {
  double sum_ns = 0, count = 0;
  for (std::size_t bucket = 0; bucket < measure::kLatencyBuckets; ++bucket) {
    const auto here = static_cast<double>(reads.counts[bucket]);
    if (here <= 0) continue;
    sum_ns += here * static_cast<double>(measure::latency_of_bucket(bucket));
    count += here;
  }
  return count > 0 ? 1e-6 * sum_ns / count : 0;
}

double ms_of(const ServiceTimes& times, std::string_view stage) {
  const auto its = std::ranges::find(times.parts, stage, &ServiceTimes::Part::name);
  return its == times.parts.end() ? 0 : its->ms;
}

}  // namespace

std::string one_reader_of(const plan::CellSettings& settings) {
  if (settings.loader == "dali") return "--loader dali";
  const storage::Container* container = storage::find_container(settings.container);
  return container && container->locks ? "--container " + settings.container : "";
}

std::optional<ReadsInFlight> reads_in_flight_of(const plan::CellSettings& settings,
                                                const storage::ReadLatencies& latencies) {
  if (!settings.workers_can_be_delayed() || !settings.reads_storage()) return std::nullopt;
  if (!one_reader_of(settings).empty()) return std::nullopt;
  if (settings.io_depth > 1 && !read_beside_each_other(settings)) return std::nullopt;
  if (latencies.reads.count() <= latencies.seen_late) return std::nullopt;
  const ReadsInFlight reads{count_of(settings), mean_ms(latencies.reads)};
  return reads.ms < kLeastReadMs ? std::nullopt : std::optional(reads);
}

// Busy CPUs may stand before a loader that could do less: what is slower than the new one stays
// before it.
void add_reads_in_flight(std::vector<Capacity>& capacities, const ReadsInFlight& reads,
                         double imgs_per_s) {
  const double most = reads.imgs_per_s();
  const auto slower = std::find_if(capacities.rbegin(), capacities.rend(),
                                   [&](const Capacity& c) { return c.imgs_per_s <= most; });
  capacities.insert(slower.base(), {.resource = std::string(kReadsInFlight),
                                    .imgs_per_s = most,
                                    .utilisation = imgs_per_s / most,
                                    .largest_stage = "read",
                                    .largest_share = 1});
}

std::optional<ReadsInFlight> reads_in_flight_of(const Evidence& e) {
  ReadsInFlight reads{count_of(e.settings), 0};
  int known = 0;
  for (const RoundEvidence& round : e.rounds) {
    const auto its = std::ranges::find(round.capacities, kReadsInFlight, &Capacity::resource);
    if (its == round.capacities.end() || its->imgs_per_s <= 0) continue;
    reads.ms += 1e3 * reads.count / its->imgs_per_s;
    ++known;
  }
  if (known == 0) return std::nullopt;
  reads.ms /= known;
  return reads;
}

double share_of_read_waits(const ServiceTimes& service, const ServiceTimes& cpu) {
  if (service.ms <= 0) return 0;
  return std::max(0.0, ms_of(service, "read") - ms_of(cpu, "read")) / service.ms;
}

bool may_reads_in_flight_limit(const plan::CellSettings& settings,
                               const std::optional<ReadsInFlight>& reads, double share_of_waits) {
  constexpr double kLeastWaits = 0.1;
  if (!settings.workers_can_be_delayed() || !one_reader_of(settings).empty()) return false;
  if (settings.reads_of_worker() < 2 || share_of_waits < kLeastWaits) return false;
  return reads.has_value() || !read_beside_each_other(settings);
}

std::string in_words(const ReadsInFlight& reads) {
  return format("%s: %.0f at %.3g ms each", std::string(kReadsInFlight).c_str(), reads.count,
                reads.ms);
}

}  // namespace feedrate::judge
