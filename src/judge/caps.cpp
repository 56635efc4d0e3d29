#include "judge/caps.h"

#include <algorithm>
#include <cmath>

#include "judge/reads_in_flight.h"

namespace feedrate::judge {
namespace {

using measure::Estimate;
using measure::Interval;

// CPUs that share a core do far less than twice as much together, and a busy machine's clocks fall.
constexpr double kCpuLow = 0.6, kCpuHigh = 1.05;

}  // namespace

RateLimit cap_of(const std::optional<Estimate>& rate, const std::string& name) {
  if (!rate) return {};
  return {rate->mean, rate->ci95, name};
}

RateLimit RateLimit::times(double factor, const std::string& by) const {
  RateLimit cap{mean * factor, may_be, by};
  if (cap.may_be) cap.may_be = Interval{factor * may_be->low, factor * may_be->high};
  return cap;
}

Caps::Caps(const Evidence& evidence, const Diagnosis& diagnosis)
    : e_(evidence),
      d_(diagnosis),
      ladder_(evidence.sound_ladder()),
      now_(cap_of(rung(evidence.own_rung()), "now")),
      device_(device_cap()),
      cpus_(cpus_if(diagnosis.cpu.ms)) {}

bool Caps::binds(std::string_view resource) const {
  const auto& all = d_.finding.resources;
  return std::ranges::find(all, resource) != all.end();
}

double Caps::part_of(const ServiceTimes& times, std::string_view stage) {
  const auto its = std::ranges::find(times.parts, stage, &ServiceTimes::Part::name);
  return its == times.parts.end() ? 0 : its->ms;
}

// Where the device alone limits, that is what it takes now.
RateLimit Caps::device_cap() const {
  if (binds("device") && !binds("workers") && !binds("CPU")) return now_.times(1, "the device");
  RateLimit least = cap_of(rung(LadderRung::synthetic), "the device");
  // Loaders beside it may slow it; real batches are copied and normalised.
  for (const LadderRung other : {LadderRung::discard, LadderRung::host}) {
    const RateLimit cap = cap_of(rung(other), "the device");
    if (cap.mean < least.mean) least = cap;
  }
  return least;
}

// Where loaders alone were measured with one for each CPU, in proportion to that: CPUs that share a
// core do less than twice as much together, and nothing else shows how much.
RateLimit Caps::cpus_if(double loader_cpu_ms) const {
  const double cpu_s_per_image = 1e-3 * loader_cpu_ms + e_.mean_step_cpu_s();
  if (cpu_s_per_image <= 0) return {};
  const auto measured = rung(LadderRung::cpus);
  const double of_loaders_s = 1e-3 * d_.cpu.ms, busy = e_.mean_cpus_busy();
  if (!measured || of_loaders_s <= 0 || busy <= 0) {
    return with_margin(e_.servers.cpus / cpu_s_per_image, kCpuLow, kCpuHigh, "the CPUs");
  }
  // What they leave of the CPUs, more of them would use.
  const double share = of_loaders_s / cpu_s_per_image / std::min(busy, 1.0);
  return cap_of(measured, "").times(share, "the CPUs");
}

// Of fewer than three rounds nothing is known of how wide it ought to be.
RateLimit Caps::with_margin(double mean, double low, double high, const std::string& name) const {
  RateLimit cap{mean, std::nullopt, name};
  if (now_.may_be) cap.may_be = Interval{low * mean, high * mean};
  return cap;
}

RateLimit Caps::storage(double bytes) const {
  if (binds("storage")) return now_.times(1 / bytes, "the storage");
  if (!e_.reads_reach_storage()) return {};
  const bool was_asked = slope_of(d_.slopes, measure::Place::storage, false) != nullptr;
  const double served = was_asked ? 1 + kDelayShare : 1;
  RateLimit cap;
  cap.may_be->low = served * now_.mean / bytes;
  return cap;
}

bool Caps::is_of_reads() const { return binds(kReadsInFlight) && !binds("workers"); }

// Where workers surely limit, a slope that is not told from 1 counts as 1: a large factor would
// raise its noise to its own power. The lower end is that of the slope.
Caps::Exponent Caps::exponent() const {
  const measure::Place place = is_of_reads() && e_.settings.io_depth > 1 ? measure::Place::in_flight
                                                                         : measure::Place::worker;
  const Slope* slept = slope_of(d_.slopes, place, false);
  if (!slept) return {};
  const auto& [mean, ci95] = slept->slope;
  if (!d_.finding.clear) return {.likely = std::clamp(mean, 0.0, 1.0), .low = 0};
  const bool may_be_all = ci95 && ci95->high >= 1;
  return {.likely = may_be_all ? 1 : std::clamp(mean, 0.5, 1.0),
          .low = ci95 ? std::clamp(ci95->low, 0.0, 1.0) : 0};
}

RateLimit Caps::workers(double workers, double ms) const {
  return with_margin(1e3 * workers / ms, 0.95, 1.05, "the workers");
}

RateLimit Caps::scaled(double factor) const {
  const auto [likely, low] = exponent();
  RateLimit cap{now_.mean * std::pow(factor, likely), now_.may_be,
                is_of_reads() ? "the reads in flight" : "the workers"};
  if (cap.may_be)
    cap.may_be = Interval{now_.may_be->low * std::pow(factor, low), now_.may_be->high * factor};
  return cap;
}

RateLimit Caps::workers_if_they_bind(double ms) const {
  return binds("workers") ? scaled(d_.service.ms / std::max(ms, 1e-3)) : RateLimit{};
}

}  // namespace feedrate::judge
