#include "diagnose/verdict.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace feedrate::diagnose {
namespace {

constexpr double kModerately = 0.05, kHighly = 0.20;
constexpr double kNoticed = 0.005;  // of the window: less is not worth a word

CapacityInputs inputs_of(const plan::CellSettings& settings, const run::Measurement& m) {
  CapacityInputs run{.imgs_per_s = m.imgs_per_s,
                     .gpus = settings.gpus,
                     .workers = settings.workers,
                     .batch_size = settings.batch_size,
                     .stages = m.stages};
  // DALI has threads of its own; only the thread that feeds it and waits for it is seen. Where DALI
  // is fast enough, that thread never waits, and DALI's capacity is unknown.
  const bool dali = settings.loader == "dali";
  if (dali) run.workers = 1;
  if (dali) run.loader_seen = m.device_idle_fraction >= kModerately;
  if (m.device.kind != "cpu" && !dali) run.cpus = m.cpu_capacity;
  run.device_ms_per_step = m.step_ms.summary.mean * (1 - m.device_idle_fraction);
  if (m.arrivals.batches > 0) {
    run.arrival_s_per_batch =
        measure::seconds(m.arrivals.busy_ns) / static_cast<double>(m.arrivals.batches);
    run.decoded_on_device = settings.decode_on_device;
  }
  return run;
}

std::string why_it_waits(const std::vector<Capacity>& all) {
  const Capacity& limit = all.front();
  // Uneven steps or an exposed copy: no resource is short on average, and yet the device waits.
  if (limit.resource == "device") {
    const bool alone = all.size() < 2;
    return format(
        " although the %s could deliver %.0f img/s: uneven service, or a copy that "
        "nothing hides",
        alone ? "loader" : all[1].resource.c_str(), alone ? 0.0 : all[1].imgs_per_s);
  }
  if (limit.resource == "cpu") {
    return format(
        "; the loader uses %.0f %% of the CPUs, %.0f %% of that for %s: more workers will "
        "not help",
        100 * std::min(1.0, limit.utilisation), 100 * limit.largest_share,
        limit.largest_stage.c_str());
  }
  return format("; the %s can deliver %.0f img/s, %.0f %% of its time goes into %s",
                limit.resource.c_str(), limit.imgs_per_s, 100 * limit.largest_share,
                limit.largest_stage.c_str());
}

// What runs beside the steps and takes something from them.
std::string beside_the_steps(const plan::CellSettings& settings, const run::Measurement& m) {
  double cpu_s = 0;
  for (const measure::StageTotal& stage : m.stages.stage) cpu_s += measure::seconds(stage.cpu_ns);
  const double loaders = cpu_s / std::max(m.window_s * m.cpu_capacity, 1e-9);
  const std::string cpus = format("the loaders take %.0f %% of the CPUs", 100 * loaders);
  if (m.device.kind == "cpu") return cpus + " that compute the steps";
  if (settings.decode_on_device) return "the device decodes beside its steps; " + cpus;
  if (settings.augment_on_device) return "the device augments beside its steps; " + cpus;
  return "copies and launches beside its steps, or another clock; " + cpus;
}

std::string why_it_is_slower(const plan::CellSettings& settings, const run::Measurement& m,
                             const Slowdown& slowdown) {
  const double step_ms = m.step_ms.summary.mean * (1 - m.device_idle_fraction);
  return format("a step takes %.2f times as long as at the ceiling (%.4g ms, there %.4g): ",
                slowdown.factor, step_ms, step_ms / slowdown.factor) +
         beside_the_steps(settings, m);
}

// Share of the window that the device waits beyond what it waits at the ceiling, too.
double waits_for_data(const run::Measurement& m, const std::optional<Ceiling>& ceiling) {
  const double idle = m.device_idle_fraction;
  if (!ceiling || ceiling->device.imgs_per_s <= 0) return idle;
  const double there_s = 1 / ceiling->imgs_per_s - 1 / ceiling->device.imgs_per_s;  // an image
  return std::max(0.0, idle - m.imgs_per_s * std::max(0.0, there_s));
}

// Whether even the slowest steps within the interval leave the run not input-bound.
bool is_shown_to_be_small(const run::Measurement& m, const std::optional<Slowdown>& slowdown,
                          double waits) {
  if (!slowdown) return false;
  return waits + (1 - m.device_idle_fraction) * (1 - 1 / slowdown->ci95.high) < kModerately;
}

std::string sentence(const plan::CellSettings& settings, const run::Measurement& m,
                     const Verdict& verdict, const std::optional<Ceiling>& ceiling) {
  const double idle = m.device_idle_fraction, waits = waits_for_data(m, ceiling);
  const std::string there =
      idle - waits < kNoticed ? "" : format(" (%.1f %% at the ceiling, too)", 100 * (idle - waits));
  if (settings.data == "synthetic" && idle >= kModerately) {
    return format(
        "the device waits %.0f %% of the time although nothing is loaded: the program "
        "itself is the limit",
        100 * idle);
  }
  const bool slower = verdict.slowdown && verdict.slowdown->is_shown();
  const double lost = waits + (slower ? verdict.slowdown->lost_fraction : 0);
  const std::string slow = slower ? why_it_is_slower(settings, m, *verdict.slowdown) : "";
  if (lost < kModerately || verdict.capacities.empty()) {
    const std::string text = format("the device waits %.1f %% of the time", 100 * idle) + there;
    if (settings.data == "synthetic" || is_shown_to_be_small(m, verdict.slowdown, waits))
      return "not input-bound: " + text + (slower ? "; " + slow : "");
    if (slower) return "perhaps moderately input-bound: " + text + "; " + slow;
    return text + (ceiling ? "; its steps are too few or too uneven to tell whether they are "
                             "longer than at the ceiling"
                           : "; no ceiling tells whether its steps are slowed");
  }
  const std::string text = format("%s input-bound: ", lost < kHighly ? "moderately" : "highly");
  if (waits < kModerately)
    return text + format("the device waits only %.1f %% of the time", 100 * idle) + there +
           ", but " + slow;
  return text + format("the device waits %.0f %% of the time", 100 * idle) + there +
         why_it_waits(verdict.capacities) + (slower ? "; besides, " + slow : "");
}

double half_width(const measure::Interval& interval) {
  return std::log(interval.high / interval.low) / 2;
}

}  // namespace

std::optional<Slowdown> slowdown_of(const run::Measurement& m, const Ceiling& ceiling) {
  const run::DeviceRate &here = m.device_rate, &there = ceiling.device;
  if (!here.ci95 || !there.ci95 || here.imgs_per_s <= 0 || there.imgs_per_s <= 0)
    return std::nullopt;
  const double factor = there.imgs_per_s / here.imgs_per_s;
  const double half = std::hypot(half_width(*here.ci95), half_width(*there.ci95));
  return Slowdown{.factor = factor,
                  .ci95 = {factor * std::exp(-half), factor * std::exp(half)},
                  .lost_fraction = (1 - m.device_idle_fraction) * (1 - 1 / factor)};
}

Verdict verdict_of(const plan::CellSettings& settings, const run::Measurement& measurement,
                   const std::optional<Ceiling>& ceiling) {
  Verdict verdict{.capacities = capacities(inputs_of(settings, measurement)),
                  .slowdown = ceiling ? slowdown_of(measurement, *ceiling) : std::nullopt,
                  .sentence = {}};
  verdict.sentence = sentence(settings, measurement, verdict, ceiling);
  return verdict;
}

}  // namespace feedrate::diagnose
