#include "judge/verdict.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace feedrate::judge {
namespace {

constexpr double kModerately = 0.05, kHighly = 0.20;
constexpr double kWorthAWord = 0.005;  // of the window

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
  // The loaders work as fast as the steps ask, or fall behind: the run's rate is not theirs.
  if (settings.discards()) run.loader_seen = false;
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

// CPU time of the loaders, a second.
double cpus_of_loaders(const run::Measurement& m) {
  double cpu_s = 0;
  for (const measure::StageTotal& stage : m.stages.stage) cpu_s += measure::seconds(stage.cpu_ns);
  return cpu_s / std::max(m.window_s, 1e-9);
}

// What a run loses to its input, as shares of its window.
struct WaitLoss {
  double waits = 0;      // the device waits beyond what it waits at the ceiling, too
  double waits_too = 0;  // what it waits at the ceiling, too
  bool slower = false;   // the intervals show longer steps,
  bool by_loading = false, by_loading_alone = false;  // loading can be why,
  double of_steps = 0;                                // and so much can be its doing
  double most_of_steps = 1;  // whatever is shown: more loading cannot take from the steps
  double all = 0;            // the waiting, and of_steps where loading can be why
};

// A CPU step is slowed by no more than the CPU time of the loaders: where a loader has the CPU of
// one of its threads, the others wait for that one. Twice as much is allowed, for caches that are
// lost. Devices of another kind, and loaders whose threads are not seen, are not bounded.
// Steps that decode or augment themselves are not, either.
double most_by_cpus(const plan::CellSettings& settings, const run::Measurement& m) {
  const bool is_bounded = m.device.kind == "cpu" && settings.loader != "dali" &&
                          !settings.augment_on_device && !settings.decode_on_device;
  return is_bounded ? std::min(1.0, 2 * cpus_of_loaders(m)) : 1;
}

WaitLoss loss_of(const plan::CellSettings& settings, const run::Measurement& m,
                 const std::optional<Slowdown>& slowdown, const std::optional<Ceiling>& ceiling) {
  const double idle = m.device_idle_fraction;
  const double bound = most_by_cpus(settings, m);
  WaitLoss loss{.waits = idle, .most_of_steps = bound};
  if (ceiling && ceiling->device.imgs_per_s > 0) {
    const double an_image_s = 1 / ceiling->imgs_per_s - 1 / ceiling->device.imgs_per_s;
    loss.waits_too = std::min(idle, m.imgs_per_s * std::max(0.0, an_image_s));
    loss.waits -= loss.waits_too;
  }
  if (slowdown) {
    loss.slower = slowdown->is_shown();
    loss.of_steps = std::min(slowdown->lost_fraction, bound);
    loss.by_loading_alone = loss.slower && slowdown->lost_fraction <= bound + Slowdown::kNoticed;
    loss.by_loading = loss.by_loading_alone || (loss.slower && bound >= kModerately);
    loss.most_of_steps = std::min(bound, (1 - idle) * std::max(0.0, 1 - 1 / slowdown->ci95.high));
  }
  loss.all = loss.waits + (loss.by_loading ? loss.of_steps : 0);
  return loss;
}

// What runs beside the steps and takes something from them.
std::string beside_the_steps(const plan::CellSettings& settings, const run::Measurement& m) {
  const double loaders = cpus_of_loaders(m) / std::max(m.cpu_capacity, 1e-9);
  const std::string cpus = format("the loaders take %.0f %% of the CPUs", 100 * loaders);
  if (settings.decode_on_device) return "the device decodes beside its steps; " + cpus;
  if (settings.augment_on_device) return "the device augments within its steps; " + cpus;
  if (m.device.kind == "cpu") return cpus + " that compute the steps";
  return "copies and launches beside its steps, or another clock; " + cpus;
}

std::string why_it_is_slower(const plan::CellSettings& settings, const run::Measurement& m,
                             const Slowdown& slowdown, const WaitLoss& loss) {
  const double step_ms = m.step_ms.summary.mean * (1 - m.device_idle_fraction);
  const std::string text =
      format("a step takes %.2f times as long as at the ceiling (%.4g ms, there %.4g)",
             slowdown.factor, step_ms, step_ms / slowdown.factor);
  if (loss.by_loading) {
    return text + ": " + beside_the_steps(settings, m) +
           (loss.by_loading_alone
                ? ""
                : format(", which explains at most %.0f %% of the time: the machine itself was "
                         "slower, too",
                         100 * loss.of_steps));
  }
  return text + format(
                    ", which is not the loaders' doing (%.2g of %.3g CPUs): the machine itself "
                    "was slower",
                    cpus_of_loaders(m), m.cpu_capacity);
}

std::string waits_text(const run::Measurement& m, const WaitLoss& loss, const char* how) {
  const std::string text = format(how, 100 * m.device_idle_fraction) + " of the time";
  return loss.waits_too < kWorthAWord
             ? text
             : text + format(" (%.1f %% at the ceiling, too)", 100 * loss.waits_too);
}

// Why nobody knows whether loading makes the steps longer.
std::string why_unknown(const run::Measurement& m, const std::optional<Ceiling>& ceiling) {
  if (!ceiling) return "; no ceiling tells whether its steps are slowed";
  const double here = m.device_rate.imgs_per_s, there = ceiling->device.imgs_per_s;
  if (here <= 0 || there <= (1 + kModerately) * here) {
    return "; its steps are too few or too uneven to tell whether they are longer than at the "
           "ceiling";
  }
  return format(
      "; a step takes %.2f times as long as at the ceiling, but the steps are too few or "
      "too uneven to be sure",
      there / here);
}

bool is_own_limit(const plan::CellSettings& settings, const run::Measurement& m) {
  return settings.data == "synthetic" && m.device_idle_fraction >= kModerately;
}

Band band_of(const plan::CellSettings& settings, const run::Measurement& m, const Verdict& verdict,
             const WaitLoss& loss) {
  if (is_own_limit(settings, m)) return Band::unknown;
  if (settings.data == "synthetic") return Band::not_bound;
  if (loss.all >= kModerately && !verdict.capacities.empty())
    return loss.all < kHighly ? Band::moderately : Band::highly;
  return loss.waits + loss.most_of_steps < kModerately ? Band::not_bound : Band::unknown;
}

// Of a run that loses little, or nobody knows how much.
std::string when_little_is_lost(const run::Measurement& m, const WaitLoss& loss,
                                const std::string& slow, const std::optional<Ceiling>& ceiling,
                                Band band) {
  std::string text = waits_text(m, loss, "the device waits %.1f %%");
  if (loss.slower) text += "; " + slow;
  if (band == Band::not_bound) return "not input-bound: " + text;
  if (loss.by_loading) return "perhaps moderately input-bound: " + text;
  if (loss.slower) return text;
  return text + why_unknown(m, ceiling);
}

std::string sentence(const plan::CellSettings& settings, const run::Measurement& m,
                     const Verdict& verdict, const WaitLoss& loss,
                     const std::optional<Ceiling>& ceiling) {
  if (is_own_limit(settings, m)) {
    return format(
        "the device waits %.0f %% of the time although nothing is loaded: the program "
        "itself is the limit",
        100 * m.device_idle_fraction);
  }
  const std::string slow =
      loss.slower ? why_it_is_slower(settings, m, *verdict.slowdown, loss) : "";
  if (!verdict.is_input_bound()) return when_little_is_lost(m, loss, slow, ceiling, verdict.band);
  const std::string text =
      format("%s input-bound: ", verdict.band == Band::highly ? "highly" : "moderately");
  if (loss.waits < kModerately)
    return text + waits_text(m, loss, "the device waits only %.1f %%") + ", but " + slow;
  return text + waits_text(m, loss, "the device waits %.0f %%") + why_it_waits(verdict.capacities) +
         (loss.slower ? "; besides, " + slow : "");
}

double half_width(const measure::Interval& interval) {
  return std::log(interval.high / interval.low) / 2;
}

}  // namespace

std::optional<Slowdown> slowdown_of(const run::Measurement& m, const Ceiling& ceiling) {
  const auto device = m.pairs ? run::device_share_of(m.pairs->pairs) : std::nullopt;
  if (device && device->ci95) {
    const auto& [share, ci95] = *device;
    return Slowdown{.factor = 1 / share,
                    .ci95 = {1 / ci95->high, 1 / ci95->low},
                    .lost_fraction = (1 - m.device_idle_fraction) * (1 - share)};
  }
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
                  .band = Band::unknown,
                  .sentence = {}};
  const WaitLoss loss = loss_of(settings, measurement, verdict.slowdown, ceiling);
  verdict.band = band_of(settings, measurement, verdict, loss);
  verdict.sentence = sentence(settings, measurement, verdict, loss, ceiling);
  return verdict;
}

}  // namespace feedrate::judge
