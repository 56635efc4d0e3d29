#include "diagnose/verdict.h"

#include <algorithm>

#include "base/text.h"

namespace feedrate::diagnose {
namespace {

constexpr double kModerately = 0.05, kHighly = 0.20;

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
  if (m.device.kind != "cpu" && !dali) run.cpus = m.cpus;
  run.device_ms_per_step = m.step_ms.summary.mean * (1 - m.device_idle_fraction);
  if (m.arrivals.batches > 0) {
    run.arrival_s_per_batch =
        measure::seconds(m.arrivals.busy_ns) / static_cast<double>(m.arrivals.batches);
    run.decoded_on_device = settings.decode_on_device;
  }
  return run;
}

std::string why(const std::vector<Capacity>& all) {
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

std::string sentence(const plan::CellSettings& settings, double idle,
                     const std::vector<Capacity>& all) {
  if (settings.data == "synthetic" && idle >= kModerately) {
    return format(
        "the device waits %.0f %% of the time although nothing is loaded: the program "
        "itself is the limit",
        100 * idle);
  }
  if (idle < kModerately || all.empty())
    return format("not input-bound: the device waits %.1f %% of the time", 100 * idle);
  return format("%s input-bound: the device waits %.0f %% of the time",
                idle < kHighly ? "moderately" : "highly", 100 * idle) +
         why(all);
}

}  // namespace

Verdict verdict_of(const plan::CellSettings& settings, const run::Measurement& measurement) {
  Verdict verdict{.capacities = capacities(inputs_of(settings, measurement)), .sentence = {}};
  verdict.sentence = sentence(settings, measurement.device_idle_fraction, verdict.capacities);
  return verdict;
}

}  // namespace feedrate::diagnose
