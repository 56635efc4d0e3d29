#include "diagnose/caps.h"

#include <algorithm>
#include <cmath>

namespace feedrate::diagnose {
namespace {

using measure::Estimate;
using measure::Interval;

// CPUs that share a core do far less than twice as much together, and a busy machine's clocks fall.
constexpr double kCpuLow = 0.6, kCpuHigh = 1.05;

}  // namespace

Cap cap_of(const std::optional<Estimate>& rate, const std::string& name) {
  if (!rate) return {};
  const Interval ci95 = rate->ci95.value_or(Interval{rate->mean, rate->mean});
  return {rate->mean, ci95.low, ci95.high, name};
}

Caps::Caps(const Evidence& evidence, const Diagnosis& diagnosis)
    : e_(evidence),
      d_(diagnosis),
      ladder_(evidence.ladder()),
      now_(cap_of(rung(evidence.own_rung()), "now")),
      device_(device_cap()),
      cpus_(cpus_if(diagnosis.cpu.ms)) {}

bool Caps::binds(const char* resource) const {
  const auto& all = d_.finding.resources;
  return std::ranges::find(all, resource) != all.end();
}

double Caps::part_of(const ServiceTimes& times, std::string_view stage) {
  const auto its = std::ranges::find(times.parts, stage, &ServiceTimes::Part::name);
  return its == times.parts.end() ? 0 : its->ms;
}

// Where the device alone limits, that is what it takes now.
Cap Caps::device_cap() const {
  if (binds("device") && !binds("workers") && !binds("CPU"))
    return {now_.mean, now_.low, now_.high, "the device"};
  Cap least = cap_of(rung(Rung::synthetic), "the device");
  // Loaders beside it may slow it; real batches are copied and normalised.
  for (const Rung other : {Rung::discard, Rung::host}) {
    const Cap cap = cap_of(rung(other), "the device");
    if (cap.mean < least.mean) least = cap;
  }
  return least;
}

// Where loaders alone were measured with one for each CPU, in proportion to that: CPUs that share a
// core do less than twice as much together, and nothing else shows how much.
Cap Caps::cpus_if(double loader_cpu_ms) const {
  const double cpu_s_per_image = 1e-3 * loader_cpu_ms + e_.mean_step_cpu_s();
  if (cpu_s_per_image <= 0) return {};
  const auto measured = rung(Rung::cpus);
  const double of_loaders_s = 1e-3 * d_.cpu.ms, busy = e_.mean_cpus_busy();
  if (!measured || of_loaders_s <= 0 || busy <= 0) {
    const double all = e_.servers.cpus / cpu_s_per_image;
    return {all, kCpuLow * all, kCpuHigh * all, "the CPUs"};
  }
  Cap cap = cap_of(measured, "the CPUs");
  // What they leave of the CPUs, more of them would use.
  const double share = of_loaders_s / cpu_s_per_image / std::min(busy, 1.0);
  cap.mean *= share, cap.low *= share, cap.high *= share;
  return cap;
}

double Caps::slept_slope() const {
  for (const Slope& slope : d_.slopes)
    if (slope.place == measure::Place::worker && !slope.burns)
      return std::clamp(slope.slope.mean, 0.5, 1.0);
  return 1;
}

Cap Caps::workers(double workers, double ms) const {
  const double rate = 1e3 * workers / ms;
  return {rate, 0.95 * rate, 1.05 * rate, "the workers"};
}

Cap Caps::scaled(double factor) const {
  const double rate = now_.mean * std::pow(factor, slept_slope());
  const double low = now_.low * std::pow(factor, 0.9 * slept_slope());
  return {rate, low, now_.high * factor, "the workers"};
}

Cap Caps::workers_if_they_bind(double ms) const {
  return binds("workers") ? scaled(d_.service.ms / std::max(ms, 1e-3)) : Cap{};
}

}  // namespace feedrate::diagnose
