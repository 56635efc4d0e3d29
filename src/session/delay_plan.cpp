#include "session/delay_plan.h"

#include <algorithm>

#include "device/step_trace.h"
#include "run/blocks.h"

namespace feedrate::session {

using measure::Place;

namespace {

// Where reads drain at each batch's end, those that may be in flight seldom are in a smaller batch:
// it would be another loader that is measured.
int least_batch(const plan::CellSettings& settings) {
  return settings.drains_each_batch() && settings.io_depth > 1 ? 2 * settings.io_depth : 1;
}

}  // namespace

judge::Servers servers_of(const plan::CellSettings& settings) {
  return {.workers = static_cast<double>(std::max(settings.workers, 1) * settings.gpus),
          .cpus = 1,
          .images_per_step = static_cast<double>(settings.batch_size) * settings.gpus};
}

std::vector<Probe> probes_of(const plan::CellSettings& settings, const ProbesWanted& wanted) {
  std::vector<Probe> probes;
  const auto add = [&](Place place, bool burns) {
    const auto& served = wanted.served;
    if (std::ranges::find(served, place) != served.end()) probes.push_back({place, burns});
  };
  if (settings.workers_can_be_delayed()) {
    add(Place::worker, false);
    if (settings.workers > 0) add(Place::worker, true);
  }
  if (!settings.has_serial_copies()) add(Place::copy, false);
  add(Place::step, false);
  if (wanted.launching && !settings.has_serial_copies()) add(Place::step, true);
  if (settings.gpus > 1) add(Place::all_reduce, false);
  if (wanted.storage && settings.workers_can_be_delayed()) add(Place::storage, false);
  if (wanted.in_flight && settings.batch_size >= least_batch(settings))
    probes.push_back({Place::in_flight, false});  // served by no device
  return probes;
}

double ladder_run_s(double budget_s) { return std::clamp(budget_s / 2 / 9 / 3, 0.4, 5.0); }

DelayPlan plan_of(double budget_s, double ladder_s, double step_s, std::size_t probes) {
  constexpr int kMostPairs = 16;  // of each kind of delay, all rounds together
  constexpr int kMostRounds = 6, kWantedRounds = 3;
  constexpr int kLeastSteps = 6;
  // Seconds of a block, with the time in which it settles: what will do, and what is wanted.
  constexpr double kLeast = 0.2, kWanted = 0.6, kLongest = 3;
  constexpr double kStartup = 1;
  constexpr double kBeyond = 0.3;  // of the budget: so much longer a diagnosis may take
  const double steps_s = (kLeastSteps + static_cast<double>(run::kSettlingSteps)) * step_s;
  const double least = std::max(kLeast, steps_s), wanted = std::max(kWanted, steps_s);
  const double pair_of_each = 2 * static_cast<double>(probes);  // blocks
  DelayPlan found{.plan = {.blocks = {.blocks = {}, .least_steps = kLeastSteps}}, .needs_s = {}};
  ledger::DiagnosisPlan& plan = found.plan;
  found.pair_s = 2 * least;
  for (int rounds = kMostRounds; rounds >= 1; --rounds) {
    const double left_s = budget_s / rounds - ladder_s - kStartup;
    const int needed = (kLeastPairs + rounds - 1) / rounds;
    const double each = left_s / (pair_of_each * needed);
    // The ladder has half of the time at most where that leaves enough rounds for an interval.
    const bool is_long_enough =
        rounds > kWantedRounds ? each >= wanted && left_s >= ladder_s : each >= least;
    if (!is_long_enough && rounds > 1) continue;
    plan.rounds = rounds;
    plan.pairs = std::clamp(static_cast<int>(left_s / (pair_of_each * wanted)), needed,
                            std::max(needed, kMostPairs / rounds));
    const double blocks = pair_of_each * plan.pairs;
    const double block_s = std::clamp(left_s / blocks, least, std::max(least, kLongest));
    plan.blocks.seconds = block_s / (1 + run::kSettlingShare);
    // Blocks end with a step, and delayed ones have longer steps. What is too short for all blocks
    // ends with those that fit.
    plan.block_run_s = is_long_enough ? 1.3 * block_s * blocks : std::max(left_s, 4 * least);
    if (!is_long_enough) found.needs_s = ladder_s + kStartup + blocks * least;
    found.holds_no_pair = found.pair_s > std::max(left_s, kBeyond * budget_s);
    break;
  }
  return found;
}

std::optional<int> smaller_batch(const plan::CellSettings& settings, double budget_s,
                                 double ladder_s, double step_s, std::size_t probes) {
  // Launching takes less than a twentieth of a step, and of a millisecond where nobody knows.
  constexpr double kLeastOfLaunch = 20, kUnknownLaunchMs = 1;
  constexpr int kMostOnCpu = 4;  // times smaller
  const device::Emulation& emulation = settings.emulation;
  const bool is_cpu = settings.device_kind == "cpu";
  const bool averages = settings.gpus > 1 && (is_cpu || emulation.all_reduce_ms > 0);
  if (!(settings.emulated() || is_cpu) || averages || device::is_trace(settings.device_argument))
    return std::nullopt;
  if (!plan_of(budget_s, ladder_s, step_s, probes).needs_s) return std::nullopt;
  const double launch_ms = emulation.host_cpu_ms < 0 ? kUnknownLaunchMs : emulation.host_cpu_ms;
  for (int batch = settings.batch_size / 2; batch >= least_batch(settings); batch /= 2) {
    const double s = step_s * batch / settings.batch_size;
    if (is_cpu && kMostOnCpu * batch < settings.batch_size) return std::nullopt;
    if (!is_cpu && 1e3 * s < kLeastOfLaunch * launch_ms) return std::nullopt;
    if (!plan_of(budget_s, ladder_s, s, probes).needs_s) return batch;
  }
  return std::nullopt;
}

}  // namespace feedrate::session
