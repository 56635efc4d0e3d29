#include "judge/flags.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "device/emulated_device.h"
#include "device/step_trace.h"
#include "judge/bad_pictures.h"
#include "judge/page_cache_flags.h"
#include "measure/nvml.h"
#include "measure/statistics.h"
#include "measure/steady_state.h"
#include "run/dataset_part.h"
#include "run/window.h"

namespace feedrate::judge {
namespace {

// --- The cell.

Raised emulated(const FlagFacts& facts, const FlagRule&) {
  return raise_if(facts.result.settings.emulated(),
                  "no GPU trained: the device took real batches at a published or given rate");
}

Raised planted(const FlagFacts& facts, const FlagRule&) {
  return raise_if(facts.options.plant, "service times were planted in stages");
}

Raised cached_part(const FlagFacts& facts, const FlagRule&) {
  if (!facts.result.dataset) return {};
  const std::size_t all = facts.result.dataset->samples.size();
  const std::size_t kept = run::kept_samples(facts.result.settings, all, facts.options.most_cached);
  return raise_if(kept < all, std::to_string(kept) + " of " + std::to_string(all) +
                                  " samples were kept in memory, evenly spread, to save time");
}

// --- The window.

Raised unsteady_warmup(const FlagFacts& facts, const FlagRule&) {
  const run::Measurement& m = measured(facts);
  return raise_if(!m.steady && !m.pairs && m.warmup_steps > measure::kSteadyNeeds,
                  "the steps were still changing when the warm-up's time was over");
}

Raised short_warmup(const FlagFacts& facts, const FlagRule&) {
  const run::Measurement& m = measured(facts);
  return raise_if(
      !m.steady && !m.pairs && m.warmup_steps <= measure::kSteadyNeeds,
      format("the warm-up's time was over after %d steps; whether steps are steady shows "
             "after %d",
             static_cast<int>(m.warmup_steps), measure::kSteadyNeeds + 1));
}

Raised unsteady_window(const FlagFacts& facts, const FlagRule&) {
  return raise_if(measured(facts).changing, "the steps changed within the measured window");
}

// Whether the window had less than this share of the steps or the seconds that were asked for.
bool is_shorter_than(double share, const FlagFacts& facts) {
  const run::RunLimits& limits = facts.options.limits;
  return static_cast<double>(measured(facts).steps) < share * limits.min_steps ||
         run::measured_s(measured(facts)) < share * limits.min_seconds;
}

// By what ended the window: nothing else makes the next one longer.
std::string longer_window(const FlagFacts& facts) {
  const std::string longest = "raise --max-seconds";
  if (run::measured_s(measured(facts)) >= facts.options.limits.max_seconds)
    return longest + ", or shorten the steps with a smaller --batch-size";
  if (facts.result.settings.page_cache == "cold")
    return "make a larger dataset (a cold run is one pass)";
  return is_shorter_than(1, facts) ? longest : "raise --min-steps";
}

// 20 steps are the least from which an interval is formed, see block_interval().
Raised few_steps(const FlagFacts& facts, const FlagRule& rule) {
  const auto steps = static_cast<double>(measured(facts).steps);
  return raise_if(steps < *rule.threshold,
                  format("%.0f steps were measured: too few for a rate", steps),
                  steps < *rule.serious, longer_window(facts));
}

Raised ceiling_exceeded(const FlagFacts& facts, const FlagRule& rule) {
  if (!facts.ceiling || !facts.ceiling->unfit.empty()) return {};
  const double above = measured(facts).imgs_per_s / facts.ceiling->imgs_per_s - 1;
  const auto& pairs = measured(facts).pairs;
  const bool may_be_chance = pairs && pairs->share.ci95 && pairs->share.ci95->low <= 1;
  return raise_if(above > *rule.threshold && !may_be_chance,
                  "it reached " + percent(1 + above) +
                      " of its ceiling: one of the two was not measured at a steady rate",
                  above > *rule.serious);
}

// Its rate may be right.
Raised ceiling_unfit(const FlagFacts& facts, const FlagRule&) {
  if (!facts.ceiling || facts.ceiling->unfit.empty()) return {};
  return {{"its ceiling must not be quoted (" + facts.ceiling->unfit +
           "): neither may its share of it"}};
}

// On a GPU the step is the same work as at the ceiling, so that its length tells whether it was the
// same kernels: each process has cuDNN look for its own. The waiting for data is left out.
std::optional<Slowdown> step_beside_the_ceilings(const FlagFacts& facts) {
  if (measured(facts).device.kind != "cuda" || !facts.ceiling || !facts.ceiling->unfit.empty())
    return {};
  return slowdown_of(measured(facts), *facts.ceiling);
}
std::string beside_the_ceilings(const Slowdown& step) {
  return format("a step took %.3f times as long as at the ceiling (95 %%: %.3f to %.3f)",
                step.factor, step.ci95.low, step.ci95.high);
}
// Whether cuDNN and cuBLAS are known to have chosen the same kernels in both.
bool has_the_ceilings_kernels(const FlagFacts& facts) {
  const std::string& here = measured(facts).device.kernels;
  return measured(facts).pairs || (!here.empty() && here == facts.ceiling->kernels);
}

Raised shorter_step(const FlagFacts& facts, const FlagRule& rule) {
  const auto step = step_beside_the_ceilings(facts);
  if (!step || step->ci95.high >= 1 - *rule.threshold) return {};
  const std::string reason = beside_the_ceilings(*step) + ": the ceiling is too low";
  if (!has_the_ceilings_kernels(facts)) return {{reason}};
  return {{.reason = reason + ", although its kernels are the same",
           .remedy = "measure both again: see what the GPU's clocks did, and what else used it"}};
}

// What decodes or augments on the device makes a step longer by itself.
Raised longer_step(const FlagFacts& facts, const FlagRule& rule) {
  const plan::CellSettings& settings = facts.result.settings;
  const auto step = step_beside_the_ceilings(facts);
  if (!step || settings.decode_on_device || settings.augment_on_device ||
      step->ci95.low <= 1 + *rule.threshold)
    return {};
  const std::string reason =
      beside_the_ceilings(*step) + ": copies and launches beside it, or another clock";
  if (!has_the_ceilings_kernels(facts)) return {{reason + ", or other kernels"}};
  return {{.reason = reason + "; its kernels are the same",
           .remedy = "say so with the result: it is what loading costs the step"}};
}

// "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
Raised gpu_slice(const FlagFacts& facts, const FlagRule&) {
  return raise_if(measured(facts).device.name.find(" MIG ") != std::string::npos,
                  "a slice of a GPU trained, not all of it");
}

Raised short_window(const FlagFacts& facts, const FlagRule& rule) {
  const run::Measurement& m = measured(facts);
  const char* kind = m.pairs ? " of the cell, in pairs that took" : " in";
  return raise_if(is_shorter_than(*rule.threshold, facts),
                  std::to_string(m.steps) + (m.steps == 1 ? " step" : " steps") + kind +
                      format(" %.3g s", run::measured_s(m)),
                  is_shorter_than(*rule.serious, facts), longer_window(facts));
}

Raised queue_not_at_rest(const FlagFacts& facts, const FlagRule& rule) {
  const run::Measurement& m = measured(facts);
  const double drawn = m.drawn_from_queue, share = std::abs(drawn);
  const std::string whose =
      m.ranks.size() < 2 ? "the window's" : "rank " + std::to_string(m.drawn_rank) + "'s";
  return raise_if(share > *rule.threshold,
                  percent(share) + " of " + whose + " images " +
                      (drawn > 0 ? "came out of the stock of the queues: the workers made fewer"
                                 : "went into the stock of the queues: the workers made more"),
                  share > *rule.serious);
}

bool draws_by_chance(const FlagFacts& facts) {
  return facts.result.settings.order == pipeline::Order::shuffled;
}

Raised bad_samples(const FlagFacts& facts, const FlagRule& rule) {
  const run::SkippedSamples& bad = measured(facts).bad;
  const double share = least_bad_share(bad, draws_by_chance(facts));
  return raise_if(share > *rule.threshold, bad_pictures_text(bad, draws_by_chance(facts)),
                  share > *rule.serious);
}

Raised few_bad_samples(const FlagFacts& facts, const FlagRule& rule) {
  const run::SkippedSamples& bad = measured(facts).bad;
  const double share = least_bad_share(bad, draws_by_chance(facts));
  return raise_if(share > *rule.threshold && share <= *flag_rule("bad_samples").threshold,
                  bad_pictures_text(bad, draws_by_chance(facts)));
}

Raised stray_bytes(const FlagFacts& facts, const FlagRule&) {
  const std::int64_t pictures = measured(facts).stray_pictures.value_or(0);
  return raise_if(pictures > 0, pictures == 1
                                    ? "1 picture holds stray bytes; it decodes as in Pillow"
                                    : std::to_string(pictures) +
                                          " pictures hold stray bytes; they decode as in Pillow");
}

// --- The host: each machine's, named where there are several.

template <typename Look>
Raised for_each_machine(const FlagFacts& facts, const Look& look) {
  Raised all;
  const auto& machines = measured(facts).machines;
  for (const auto& [host, use] : machines) {
    for (FlagRule::Raised& raised : look(use)) {
      if (machines.size() > 1) raised.reason = host + ": " + raised.reason;
      all.push_back(std::move(raised));
    }
  }
  return all;
}

// As raise_if(), of what was seen as a share.
Raised raise_above(double threshold, double share, const std::string& reason) {
  Raised raised = raise_if(share > threshold, reason);
  for (FlagRule::Raised& one : raised) one.figure = share;
  return raised;
}

// "other processes took at least 12.0 % of the CPUs; the kernel's own threads and interrupts, up to
// 22.0 % more, are left out". At least: see HostUse::cpu_neighbours(). `others`: with these.
std::string neighbours_text(double neighbours, double others, double kernel_share,
                            const std::string& whose) {
  const bool is_kernel_seen = kernel_share >= 0, takes_off = kernel_share >= 0.005;
  return std::string("other processes took ") + (takes_off ? "at least " : "") +
         percent(neighbours) + whose +
         (!is_kernel_seen ? " (the kernel's own threads and interrupts, which cannot be told apart "
                            "here, included)"
          : takes_off     ? "; the kernel's own threads and interrupts, up to " +
                                percent(std::min(others, kernel_share)) + " more, are left out"
                          : "");
}

// What the kernel does is done for the run's reads as well, and nobody can end it.
Raised noisy_neighbour(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_machine(facts, [&](const measure::HostUse& use) {
    // On a large machine the run's own CPUs may be crowded while nearly all of the others are idle.
    const double of_all = use.cpu_neighbours(), of_usable = use.usable_cpus_neighbours();
    const double others = std::max(of_all, of_usable);
    return raise_above(
        *rule.threshold, others,
        of_usable > of_all
            ? neighbours_text(others, use.usable_cpus_other_processes,
                              use.usable_cpus_kernel_threads, " of the CPUs that it may use")
            : neighbours_text(others, use.cpu_other_processes, use.cpu_kernel_threads,
                              " of the CPUs"));
  });
}

// Where the least is too little for a warning, and the most would be enough.
Raised perhaps_noisy_neighbour(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_machine(facts, [&](const measure::HostUse& use) {
    const double of_all = use.cpu_neighbours(), of_usable = use.usable_cpus_neighbours();
    if (std::max(of_all, of_usable) > *rule.threshold) return Raised{};
    const double most_of_all = use.cpu_neighbours_most(),
                 most_of_usable = use.usable_cpus_neighbours_most();
    const bool is_of_usable = most_of_usable > most_of_all;
    const double most = is_of_usable ? most_of_usable : most_of_all;
    return raise_above(
        *rule.threshold, most,
        format("other processes took between %.1f and %.1f %% of the CPUs%s: this kernel counts "
               "interrupts as the time of what they interrupt, so that those of the run's own "
               "threads cannot be told apart",
               100 * (is_of_usable ? of_usable : of_all), 100 * most,
               is_of_usable ? " that it may use" : ""));
  });
}

// A read counts as the run's when it is asked for, and as the device's when it has ended. A cold
// pass may begin with this much under way, and ends with nothing; a window that ended before it has
// as much under way at its end.
double bytes_under_way(const FlagFacts& facts) {
  const plan::CellSettings& settings = facts.result.settings;
  const run::Measurement& m = measured(facts);
  const measure::StageTotal& reads = m.stages[measure::Stage::read];
  const bool is_cut_off = run::measured_s(m) >= facts.options.limits.max_seconds;
  if (settings.page_cache != "cold" || reads.items == 0 || is_cut_off) return 0;
  const double mean = static_cast<double>(reads.bytes) / static_cast<double>(reads.items);
  return mean * std::max(settings.workers, 1) * settings.reads_of_worker() * settings.gpus;
}

// Where storage gives part of what was read. Too little to be anything but the counters' ends, or a
// log's: a few megabytes.
Raised storage_shared(const FlagFacts& facts, const FlagRule& rule) {
  constexpr double kLeastBytes = 4e6, kLeastPart = 0.05;
  const run::Measurement& m = measured(facts);
  const double own = m.storage_read_bytes,
               others = m.storage_other_read_bytes - bytes_under_way(facts);
  const auto asked = static_cast<double>(m.stages[measure::Stage::read].bytes);
  if (own <= kLeastPart * asked || others < kLeastBytes) return {};
  const auto device = std::ranges::find(m.storage_counters, 0, &measure::StorageCounter::depth);
  const std::string where = device == m.storage_counters.end() ? "the storage" : device->name;
  return raise_above(
      *rule.threshold, others / own,
      format("other programs read %.1f MB of %s, %s of the %.1f MB that the run read of it",
             1e-6 * others, where.c_str(), percent(others / own).c_str(), 1e-6 * own));
}

Raised cpu_steal(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_machine(facts, [&](const measure::HostUse& use) {
    return raise_above(*rule.threshold, use.cpu_steal,
                       "the hypervisor took " + percent(use.cpu_steal) + " of the CPUs");
  });
}

Raised cpu_quota(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_machine(facts, [&](const measure::HostUse& use) {
    return raise_above(*rule.threshold, use.cpu_quota_stopped,
                       "the CPU quota of its control group stopped it in " +
                           percent(use.cpu_quota_stopped) + " of the quota's periods");
  });
}

Raised host_unseen(const FlagFacts& facts, const FlagRule&) {
  return for_each_machine(facts, [](const measure::HostUse& use) {
    return raise_if(use.cpu_busy < 0,
                    "/proc/stat cannot be read, or went backwards: nobody can see who used the "
                    "CPUs");
  });
}

Raised memory_pressure(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_machine(facts, [&](const measure::HostUse& use) {
    return raise_if(
        use.psi_memory_some > *rule.threshold,
        "some task waited for memory for " + percent(use.psi_memory_some) + " of the time");
  });
}

// --- The ranks.

// "", or " of rank 3".
std::string of_rank(const run::Measurement& m, std::size_t rank) {
  return m.ranks.size() < 2 ? "" : " of rank " + std::to_string(rank);
}

Raised stopped(const FlagFacts& facts, const FlagRule& rule) {
  const run::Measurement& m = measured(facts);
  const double share = m.standstills.stopped_s / (m.pairs ? m.pairs->took_s : m.window_s);
  const bool may_lead = m.standstill_rank == 0 && m.ranks.size() > 1;
  return raise_if(share > *rule.threshold,
                  "for " + percent(share) + " of the time no thread" +
                      of_rank(m, m.standstill_rank) +
                      (may_lead ? ", or of the process that leads the ranks," : "") +
                      format(" ran (%.1f s): it was stopped or frozen", m.standstills.stopped_s));
}

Raised suspended(const FlagFacts& facts, const FlagRule& rule) {
  const run::Measurement& m = measured(facts);
  return raise_if(m.standstills.suspended_s > *rule.threshold,
                  format("the machine%s slept for %.1f s", of_rank(m, m.standstill_rank).c_str(),
                         m.standstills.suspended_s));
}

Raised straggler(const FlagFacts& facts, const FlagRule& rule) {
  const run::Measurement& m = measured(facts);
  const double waits_ms = m.straggler ? m.straggler->others_wait_ms : 0;
  const double share = waits_ms / std::max(m.step_ms.summary.mean, 1e-9);
  return raise_if(
      m.straggler && share > *rule.threshold,
      m.straggler ? format("the others wait %.1f ms of each step for rank %d, %s of it", waits_ms,
                           static_cast<int>(m.straggler->rank), percent(share).c_str())
                  : "");
}

// How much a clock's first and last third differ, as a share of the faster; 0 where a third has
// fewer than `least` readings.
double change_of(std::vector<double> readings, std::size_t least) {
  std::erase_if(readings, [](double mhz) { return mhz <= 0; });
  const std::size_t third = readings.size() / 3;
  if (third < least) return 0;
  double first = 0, last = 0;
  for (std::size_t i = 0; i < third; ++i)
    first += readings[i], last += readings[readings.size() - 1 - i];
  return std::abs(first - last) / std::max(first, last);
}

Raised cpu_clock_changed(const FlagFacts& facts, const FlagRule& rule) {
  std::vector<double> clocks;
  for (const measure::HostSample& sample : measured(facts).host_series)
    clocks.push_back(sample.use.cpu_mhz);
  const double change = change_of(clocks, 1);  // a reading is a mean over all CPUs
  return raise_if(change > *rule.threshold,
                  "the CPUs' clocks changed by " + percent(change) + " within the window");
}

// --- GPUs that ran slower than they could: which, and for how much of the time.

constexpr std::uint64_t kHeldBack = measure::kThrottleHardware | measure::kThrottleThermal |
                                    measure::kThrottleHot | measure::kThrottlePowerBrake;

template <typename Look>
Raised for_each_gpu(const FlagFacts& facts, const Look& look) {
  Raised all;
  const auto& ranks = measured(facts).ranks;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (auto& raised : look("the GPU of rank " + std::to_string(r), ranks[r]))
      all.push_back(std::move(raised));
  }
  return all;
}

// The share of a GPU's readings that show one of the reasons; 0 without readings.
double share_throttled(const run::RankMeasurement& rank, std::uint64_t reasons) {
  const auto shown = std::ranges::count_if(rank.gpu, [&](const measure::GpuSample& sample) {
    return (sample.state.throttle_reasons & reasons) != 0;
  });
  const auto all = static_cast<double>(std::max<std::size_t>(rank.gpu.size(), 1));
  return static_cast<double>(shown) / all;
}

Raised throttled(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_gpu(facts, [&](const std::string& gpu, const run::RankMeasurement& rank) {
    std::uint64_t reasons = 0;
    for (const measure::GpuSample& sample : rank.gpu)
      reasons |= sample.state.throttle_reasons & kHeldBack;
    const double share = share_throttled(rank, kHeldBack);
    return raise_if(share > *rule.threshold,
                    gpu + " lowered its clocks for " + percent(share) +
                        " of the time: " + measure::throttle_text(reasons));
  });
}

// " of 700 W"; nothing where it is not known.
std::string power_limit_text(const run::RankMeasurement& rank) {
  const double watts = rank.gpu.empty() ? -1 : rank.gpu.back().state.power_limit_w;
  return watts < 0 ? "" : format(" of %.0f W", watts);
}

Raised power_capped(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_gpu(facts, [&](const std::string& gpu, const run::RankMeasurement& rank) {
    const double share = share_throttled(rank, measure::kThrottlePowerCap);
    return raise_if(share > *rule.threshold, gpu + " was at its power limit" +
                                                 power_limit_text(rank) + " for " + percent(share) +
                                                 " of the time");
  });
}

// A job beside the run takes from the ceiling as from the cells, so that no share shows it.
Raised gpu_shared(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_gpu(facts, [&](const std::string& gpu, const run::RankMeasurement& rank) {
    int most = 0;
    for (const measure::GpuSample& sample : rank.gpu)
      most = std::max(most, sample.state.compute_processes);
    return raise_if(most > *rule.threshold,
                    std::to_string(most - 1) +
                        (most == 2 ? " other process holds" : " others hold") + " a context on " +
                        gpu);
  });
}

Raised gpu_clock_changed(const FlagFacts& facts, const FlagRule& rule) {
  return for_each_gpu(facts, [&](const std::string& gpu, const run::RankMeasurement& rank) {
    std::vector<double> clocks;
    for (const measure::GpuSample& sample : rank.gpu) clocks.push_back(sample.state.sm_mhz);
    // A reading is a moment's, and goes up and down at the power limit.
    const double change = change_of(clocks, 2);
    return raise_if(change > *rule.threshold, "the SM clock of " + gpu + " changed by " +
                                                  percent(change) + " within the window");
  });
}

Raised gpu_unseen(const FlagFacts& facts, const FlagRule&) {
  return for_each_gpu(facts, [](const std::string& gpu, const run::RankMeasurement& rank) {
    return raise_if(!rank.gpu_problem.empty(),
                    "nothing can be seen of " + gpu + ": " + rank.gpu_problem);
  });
}

// --- An emulated device: the program's own cost must not look like the device's rate.

Raised scaled_rate(const FlagFacts& facts, const FlagRule&) {
  const std::string& caveat = measured(facts).device.caveat;
  return raise_if(facts.result.settings.emulated() && !caveat.empty(), caveat);
}

// The mean length of the window's steps, milliseconds. Its part of a recording may have longer ones
// than the whole, which counts where the file has gone meanwhile.
double planned_step_ms(const plan::CellSettings& settings, const run::Measurement& m) {
  if (!device::is_trace(settings.device_argument)) return m.device.step_ms;
  try {
    return device::mean_step_ms(
        device::emulated_device(settings.device_argument, settings.step_spec(0)),
        settings.batch_size, static_cast<std::size_t>(m.warmup_steps),
        static_cast<std::size_t>(m.steps));
  } catch (const Error&) {
    return m.device.step_ms;
  }
}

// Images per second in the middle one of the ceiling's blocks. A program that is the limit is so in
// all of them; where something else takes a CPU for a moment, one is slow.
double usual_ceiling(const run::MeasuredPairs& measured, const plan::CellSettings& settings) {
  std::vector<double> rates;
  for (const run::MeasuredPair& pair : measured.pairs)
    rates.push_back(static_cast<double>(pair.ceiling_steps) * settings.batch_size * settings.gpus /
                    pair.ceiling_s);
  return measure::summarise(rates).median;
}

// The rule waits a second for workers to finish what they have in hand, and no longer.
Raised ceiling_disturbed(const FlagFacts& facts, const FlagRule& rule) {
  const auto& measured_pairs = measured(facts).pairs;
  if (!measured_pairs) return {};
  const auto& pairs = measured_pairs->pairs;
  const auto disturbed = std::ranges::count(pairs, true, &run::MeasuredPair::ceiling_disturbed);
  const double share = static_cast<double>(disturbed) / static_cast<double>(pairs.size());
  return raise_if(share > *rule.threshold,
                  format("in %td of %zu pairs workers still finished samples while the ceiling was "
                         "measured, on its CPUs: it may be too low",
                         disturbed, pairs.size()));
}

Raised harness_bound(const FlagFacts& facts, const FlagRule& rule) {
  const plan::CellSettings& settings = facts.result.settings;
  const auto& pairs = measured(facts).pairs;
  if (!settings.emulated() || (settings.loads() && !pairs)) return {};
  const device::DeviceDescription& device = measured(facts).device;
  const double step_ms = std::max(planned_step_ms(settings, measured(facts)), device.host_cpu_ms) +
                         device.all_reduce_ms;
  const double reached = pairs ? usual_ceiling(*pairs, settings) : measured(facts).imgs_per_s;
  const double asked = step_ms > 0 ? 1e3 * settings.batch_size * settings.gpus / step_ms : 0;
  return raise_if(
      asked == 0 || reached < *rule.threshold * asked,
      "without any loading " + std::to_string(std::llround(reached)) +
          " images/s were reached, not the device's rate: the program itself is the limit");
}

// --- The loader.

bool streams_by_dali(const FlagFacts& facts) {
  const plan::CellSettings& settings = facts.result.settings;
  return settings.loader == "dali" && settings.feed == device::Feed::streamed;
}

// The window's rule sees what our queues hold; it does not see DALI's own, of `prefetch` batches.
Raised unseen_queue(const FlagFacts& facts, const FlagRule& rule) {
  const int prefetch = facts.result.settings.prefetch;
  const auto steps = static_cast<double>(measured(facts).steps);
  return raise_if(streams_by_dali(facts) && steps < *rule.threshold * prefetch,
                  "DALI may have begun the window with up to " + std::to_string(prefetch) +
                      " finished batches, " + percent(prefetch / std::max(steps, 1.0)) + " of it");
}

// Files of the user's own are what their names say, as far as a run knows, and not what --data
// says.
bool reads_jpegs(const FlagFacts& facts) {
  const auto& dataset = facts.result.dataset;
  if (!dataset || !dataset->contents_decide()) return facts.result.settings.data == "jpeg";
  return dataset->made.at(storage::kFormats).find("jpeg ") != std::string::npos;
}

Raised lenient_decoder(const FlagFacts& facts, const FlagRule&) {
  const plan::CellSettings& settings = facts.result.settings;
  const bool by_opencv = settings.decoder == codec::DecoderKind::opencv && settings.loads();
  return raise_if(
      (streams_by_dali(facts) || by_opencv) && reads_jpegs(facts),
      (by_opencv ? "OpenCV" : "DALI") + std::string(" decodes damaged JPEGs without an error"));
}

// It is missing, the driver does not hand it out, or no picture suits it.
Raised no_jpeg_engine(const FlagFacts& facts, const FlagRule&) {
  const plan::CellSettings& settings = facts.result.settings;
  const device::Arrivals& all = measured(facts).arrivals;
  return raise_if(settings.decode_on_device && settings.engine_share > 0 && all.batches > 0 &&
                      all.decoded.engine == 0,
                  "the GPU's JPEG engine decoded none of the pictures");
}

Raised oversubscribed(const FlagFacts& facts, const FlagRule& rule) {
  const plan::CellSettings& settings = facts.result.settings;
  const int threads = settings.loads() ? settings.workers * settings.gpus : 0;
  const double cpus = measured(facts).cpu_capacity;
  return raise_if(threads > *rule.threshold * cpus,
                  std::to_string(threads) + " loader threads share " + format("%.3g CPUs", cpus));
}

// --- The sweep.

Raised ceiling_drifted(const FlagFacts& facts, const FlagRule& rule) {
  if (!facts.opening_imgs_per_s) return {};
  const double drift = measured(facts).imgs_per_s / *facts.opening_imgs_per_s - 1;
  return raise_if(std::abs(drift) > *rule.threshold,
                  format("the ceiling moved by %+.1f %% between the first and the last run of the "
                         "repetition",
                         100 * drift));
}

Raised mixed_ledger(const FlagFacts& facts, const FlagRule&) {
  return raise_if(
      !facts.differences.empty(),
      "other records of this ledger were measured with another " + listed(facts.differences),
      std::ranges::any_of(facts.differences, is_other_work));
}

// --- Several jobs at once.

Raised jobs_not_overlapping(const FlagFacts& facts, const FlagRule& rule) {
  const double share = facts.overlap.value_or(1);
  const std::string when_all =
      share > 0 ? "all of them measured for only " + percent(share) + " of the longest window"
                : "at no time did all of them measure, or one failed meanwhile";
  return raise_if(share < *rule.threshold, "the jobs did not overlap: " + when_all);
}

constexpr std::string_view kBadPicturesRemedy =
    "`feedrate verify DIR` lists the bad files: replace or remove them, or mend the storage that "
    "does not give them";

constexpr std::string_view kOtherWork[] = {"host", "cpu.model", "cpu.affinity",  "cpu.quota",
                                           "gpus", "device.*",  "file_system.*", "dataset *"};

constexpr auto kNone = std::nullopt;
constexpr FlagRule kRules[] = {
    {"emulated", Severity::note, kNone, kNone, "run with --device cuda for a measured ceiling",
     emulated, true},
    {"planted", Severity::serious, kNone, kNone, "run without planted times", planted, true, true},
    {"cached_part", Severity::note, kNone, kNone,
     "use `feedrate run` or `sweep`, which keep them all", cached_part, false, true},
    {"unsteady.warmup", Severity::warning, kNone, kNone, "raise --max-warmup-seconds",
     unsteady_warmup},
    {"unsteady.window", Severity::warning, kNone, kNone,
     "warm up longer (--warmup-seconds), or see what changed: the batches on the report's page",
     unsteady_window},
    {"short_warmup", Severity::warning, kNone, kNone,
     "raise --max-warmup-seconds, or lower --batch-size", short_warmup},
    // Shares of the least that was asked for. A flag names what ended the window, see
    // longer_window().
    {"short_window", Severity::warning, 1.0, 0.5,
     "raise --max-seconds, or make a larger dataset (a cold run is one pass)", short_window},
    {"short_window.steps", Severity::warning, 20.0, 10.0,
     "raise --min-steps or --max-seconds, whichever ended the window, or make a larger dataset (a "
     "cold run is one pass)",
     few_steps},
    {"ceiling_exceeded", Severity::warning, 0.03, 0.10,
     "measure both for longer: --min-seconds, --min-steps", ceiling_exceeded},
    // Of the pairs.
    {"ceiling_disturbed", Severity::warning, 0.1, kNone,
     "use fewer workers than CPUs, or hold it against --data synthetic", ceiling_disturbed},
    {"ceiling_unfit", Severity::warning, kNone, kNone, "measure both again", ceiling_unfit},
    // Beyond what two runs of the same steps may differ by.
    {"step_differs.shorter", Severity::warning, Slowdown::kNoticed, kNone,
     "measure both again: cuDNN may have chosen slower kernels at the ceiling", shorter_step},
    {"step_differs.longer", Severity::note, Slowdown::kNoticed, kNone,
     "measure both again, or compare their kernels: `run --trace FILE --trace-operators`",
     longer_step},
    {"queue_not_at_rest", Severity::warning, run::kAtRest, 0.05,
     "raise --max-seconds, lower --prefetch, or make a larger dataset (a cold run is one pass)",
     queue_not_at_rest},
    // Of the dataset's pictures, see least_bad_share().
    {"bad_samples", Severity::warning, 0.0001, 0.01, kBadPicturesRemedy, bad_samples},
    {"bad_samples.few", Severity::note, 0.0, kNone, kBadPicturesRemedy, few_bad_samples},
    {kStrayBytesFlag, Severity::note, kNone, kNone, "`feedrate verify DIR` names them",
     stray_bytes},
    {"noisy_neighbour", Severity::warning, 0.10, kNone, "end them, or run on a quiet machine",
     noisy_neighbour},
    {"noisy_neighbour.perhaps", Severity::note, 0.10, kNone,
     "end them, or run on a quiet machine, to be sure", perhaps_noisy_neighbour},
    // Of the bytes that the run itself read of the storage.
    {"storage_shared", Severity::warning, 0.05, kNone,
     "end them, or use storage that nothing else reads", storage_shared},
    {"cpu_steal", Severity::warning, 0.02, kNone, "run on a machine of your own", cpu_steal},
    {"cpu_quota", Severity::warning, 0.01, kNone,
     "raise the quota of the container or batch job (cpu.max), or say with the result what it is",
     cpu_quota},
    {"host_unseen", Severity::note, kNone, kNone,
     "whether other programs or the hypervisor took CPUs is unknown", host_unseen},
    {"memory_pressure", Severity::warning, 0.01, kNone,
     "end other programs, or use a smaller cache or batch", memory_pressure},
    {"stopped", Severity::serious, 0.005, kNone, "leave it alone while it measures", stopped},
    {"stopped.machine", Severity::serious, 0.0, kNone, "keep the machine awake", suspended},
    {"straggler", Severity::warning, run::kStraggles, kNone,
     "see what slows that rank: its CPUs, its storage, its GPU's clocks", straggler},
    {"clock_changed.cpu", Severity::warning, 0.10, kNone,
     "warm up longer (--warmup-seconds), or set the governor to performance", cpu_clock_changed},
    {"throttled", Severity::serious, 0.0, kNone, "check its cooling and power, and measure again",
     throttled},
    {"power_capped", Severity::note, 0.0, kNone,
     "say so with the result: its rate depends on the limit (nvidia-smi -q -d POWER)",
     power_capped},
    {"gpu_slice", Severity::note, kNone, kNone,
     "say so with the result: other slices of the same GPU share its power and its memory's bus",
     gpu_slice, false, true},
    // Processes, the run's own included.
    {"gpu_shared", Severity::warning, 1.0, kNone,
     "end them (nvidia-smi lists them), or use a GPU of your own", gpu_shared},
    {"clock_changed.gpu", Severity::warning, 0.05, kNone,
     "warm up longer (--warmup-seconds), or lock the clocks (nvidia-smi -lgc)", gpu_clock_changed},
    {"gpu_unseen", Severity::note, kNone, kNone, "whether it was throttled is unknown", gpu_unseen},
    {"scaled_rate", Severity::warning, kNone, kNone,
     "give the rate of this size: --device emulated:IMGS_PER_S", scaled_rate},
    {"harness_bound", Severity::serious, 0.99, kNone,
     "raise --batch-size, or emulate a slower device", harness_bound, false, true},
    // Steps for each batch that DALI may have had ready.
    {"unseen_queue", Severity::note, 100.0, kNone,
     "measure longer (--min-steps of 100 times --prefetch), or use a smaller --prefetch",
     unseen_queue},
    {"lenient_decoder", Severity::note, kNone, kNone, "check the files: `feedrate verify`",
     lenient_decoder},
    {"no_jpeg_engine", Severity::note, kNone, kNone,
     "in a container, ask for the driver's `video` capability (NVIDIA_DRIVER_CAPABILITIES); where "
     "the GPU has no engine, use --jpeg-engine 0",
     no_jpeg_engine},
    {"oversubscribed", Severity::note, 2.0, kNone,
     "workers beyond the CPUs help only where they wait for storage", oversubscribed},
    // Serious where the state was asked for by name.
    {"page_cache.unknown", Severity::warning, kNone, 0.0,
     "run as their owner, or use --page-cache as-is", page_cache_unknown},
    {"page_cache.start", Severity::warning, 0.95, kNone,
     "use a dataset that fits into memory, or --page-cache as-is", page_cache_at_start},
    {"page_cache.left", Severity::serious, 0.05, kNone,
     "see what else uses the memory, or use a dataset that fits into it", page_cache_left},
    {"page_cache.elsewhere", Severity::serious, 0.8, kNone,
     "see what else reads these files, or keeps them in memory (tmpfs, a cache below the page "
     "cache); if the dataset is small, make a larger one: reading ahead begins before the window",
     page_cache_elsewhere},
    // Of the dataset's bytes.
    {"page_cache.backing", Severity::serious, 0.05, kNone,
     "let the loop device read past the page cache: losetup --direct-io=on", page_cache_backing},
    {"page_cache.below", Severity::serious, 0.8, kNone,
     "let the loop device read past the page cache: losetup --direct-io=on", page_cache_below},
    // Times the memory.
    {"page_cache.memory", Severity::warning, 5.0, kNone,
     "make a larger dataset, or read past the page cache: --io direct", page_cache_memory},
    {"page_cache.helped", Severity::warning, 0.05, kNone,
     "use --page-cache cold, or warm for a dataset that fits into memory", page_cache_helped},
    {"page_cache.differs", Severity::warning, 0.05, kNone,
     "use --page-cache cold, or warm for a dataset that fits into memory", page_cache_differs},
    {"page_cache.state", Severity::serious, kNone, kNone,
     "choose --page-cache cold, or warm and keep memory free for the files",
     page_cache_state_differs},
    // Passes over the dataset.
    {"page_cache.passes", Severity::warning, 2.0, kNone,
     "use --page-cache warm, which says so, or a larger dataset", page_cache_passes},
    // Of the bytes that were read.
    {"page_cache.rested", Severity::warning, 0.05, kNone,
     "read without a pause: --page-cache cold, --io direct or `feedrate capacity`", storage_rested},
    {"client_cold", Severity::note, kNone, kNone,
     "use a dataset several times as large as those caches", client_cold},
    {"ceiling_drifted", Severity::warning, 0.03, kNone,
     "see what else runs, and what clocks and temperatures do", ceiling_drifted},
    // Of the longest window.
    {"jobs_not_overlapping", Severity::serious, 0.9, kNone,
     "raise --min-seconds, and see what held a job up", jobs_not_overlapping},
    // Serious where it is other work.
    {"mixed_ledger", Severity::warning, kNone, 0.0, "measure the whole sweep anew: -o DIR",
     mixed_ledger, true},
};

constexpr std::string_view kSeverityNames[] = {"note", "warning", "serious"};

// The process or the machine stood still; the program is the limit.
constexpr std::string_view kSpoilBoth[] = {kStoppedFlag, "harness_bound"};

std::vector<Flag> look(const FlagFacts& facts, std::span<const FlagRule> rules) {
  std::vector<Flag> flags;
  for (const FlagRule& rule : rules) {
    if (!rule.always && !facts.result.measurement) continue;
    for (const auto& [reason, serious, remedy, figure] : rule.look(facts, rule)) {
      flags.push_back({std::string(rule.name()), serious ? Severity::serious : rule.severity,
                       reason, remedy.empty() ? std::string(rule.remedy) : remedy, figure});
    }
  }
  return flags;
}

}  // namespace

std::string_view name_of(Severity severity) {
  return kSeverityNames[static_cast<std::size_t>(severity)];
}

std::optional<Severity> severity_named(std::string_view name) {
  const auto found = std::ranges::find(kSeverityNames, name);
  if (found == std::end(kSeverityNames)) return std::nullopt;
  return static_cast<Severity>(found - std::begin(kSeverityNames));
}

std::span<const FlagRule> flag_rules() { return kRules; }

const FlagRule& flag_rule(std::string_view id) {
  return *std::ranges::find(flag_rules(), id, &FlagRule::id);
}

Severity usual_severity(std::string_view name) {
  const auto rule = std::ranges::find(flag_rules(), name, &FlagRule::name);
  return rule == flag_rules().end() ? Severity::warning : rule->severity;
}

std::vector<Flag> flags_of(FlagFacts& facts, std::span<const FlagRule> rules) {
  const auto& measurement = facts.result.measurement;
  if (!measurement || !measurement->pairs || !facts.ceiling) return look(facts, rules);
  facts.ceiling->unfit.clear();
  const std::vector<Flag> flags = look(facts, rules);
  std::vector<Flag> spoiling;
  std::ranges::copy_if(flags, std::back_inserter(spoiling), [](const Flag& flag) {
    return std::ranges::count(kSpoilBoth, flag.name) > 0;
  });
  facts.ceiling->unfit = serious_names(spoiling);
  return facts.ceiling->unfit.empty() ? flags : look(facts, rules);
}

std::string serious_names(const std::vector<Flag>& flags) {
  std::set<std::string> names;
  for (const Flag& flag : flags) {
    if (flag.severity == Severity::serious) names.insert(flag.name);
  }
  return listed(std::vector<std::string>(names.begin(), names.end()));
}

bool is_valid(const run::CellResult& result, const std::vector<Flag>& flags) {
  return result.status == run::Status::ok && std::ranges::none_of(flags, [](const Flag& flag) {
           return flag.severity == Severity::serious;
         });
}

bool is_noise(std::string_view name) {
  return name == "noisy_neighbour" || name == "cpu_steal" || name == "cpu_quota" ||
         name == "storage_shared";
}

std::span<const std::string_view> other_work() { return kOtherWork; }

bool is_other_work(std::string_view difference) {
  return std::ranges::any_of(kOtherWork, [&](std::string_view pattern) {
    return pattern.ends_with('*') ? difference.starts_with(pattern.substr(0, pattern.size() - 1))
                                  : difference == pattern;
  });
}

}  // namespace feedrate::judge
