#include "judge/suspects.h"

#include <algorithm>
#include <map>
#include <utility>

#include "judge/reads_in_flight.h"

namespace feedrate::judge {
namespace {

using measure::Place;

constexpr double kAbout = 0.8;  // of the largest part: nobody can say that it is smaller

using Names = std::vector<std::string>;
using Probability = std::optional<double>;  // nothing: not measured

// The largest, and those that are about as large, the largest first.
Names largest(const std::map<std::string, double>& shares) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, share] : shares) sorted.emplace_back(share, name);
  std::ranges::stable_sort(sorted, std::greater<>{}, [](const auto& part) { return part.first; });
  Names names;
  for (const auto& [share, name] : sorted)
    if (share > 0 && share >= kAbout * sorted.front().first) names.push_back(name);
  return names;
}

// The stage that takes most of a worker's time. Waiting for a CPU is no stage.
Names largest_stages(const ServiceTimes& service) {
  std::map<std::string, double> parts;
  for (const ServiceTimes::Part& part : service.parts)
    parts[part.name == kCpuWait ? "shared CPU" : std::string(part.name)] = part.ms;
  return largest(parts);
}

// What takes most of the CPUs' time: a stage, or the steps themselves.
Names largest_of_cpu(const Evidence& e, const ServiceTimes& cpu) {
  std::map<std::string, double> parts;
  for (const ServiceTimes::Part& part : cpu.parts) parts[std::string(part.name)] = part.ms;
  parts["shared CPU"] = 1e3 * e.mean_step_cpu_s();
  return largest(parts);
}

// What makes the device slower than at the ceiling, where it is the device that binds.
Names within_the_step(const Evidence& e) {
  if (e.mean_all_reduce_share() >= 0.5) return {"all-reduce"};
  if (e.is_at_ceiling()) return {"compute"};
  const double images = e.images_per_step();
  const std::vector<Round> rounds = e.sound_ladder();
  std::map<std::string, double> parts;
  const auto add = [&](const char* name, LadderRung from, LadderRung to) {
    const auto loss = loss_between(rounds, from, to, images);
    if (loss && loss->is_shown()) parts[name] = loss->imgs_per_s.mean;
  };
  add("normalise", LadderRung::synthetic, LadderRung::device);
  if (e.settings.has_serial_copies()) add("copy", LadderRung::device, LadderRung::host);
  add("shared CPU", LadderRung::synthetic, LadderRung::discard);
  const Names most = largest(parts);
  const double lost = e.mean_rate(LadderRung::synthetic) - e.mean_rate(e.own_rung());
  if (most.empty() || parts[most.front()] < lost / 3) return {"compute"};
  return most;
}

// A CPU step is slowed by whatever computes. That is no loss as long as the ceiling is reached.
Names of_busy_cpus(const Evidence& e, const ServiceTimes& cpu) {
  const Names most = largest_of_cpu(e, cpu);
  return !most.empty() && most.front() == "shared CPU" && e.is_at_ceiling() ? Names{"compute"}
                                                                            : most;
}

// Of its time: what works less cannot be what the run waits for, whatever a delay of a fifth costs.
constexpr double kLeastBusy = 0.5;

// Mean utilisation over the rounds; nothing where it is not known.
std::optional<double> utilisation_of(const Evidence& e, std::string_view resource) {
  double sum = 0;
  int known = 0;
  for (const RoundEvidence& round : e.rounds) {
    const auto its = std::ranges::find(round.capacities, resource, &Capacity::resource);
    if (its == round.capacities.end() || its->utilisation <= 0) continue;
    sum += its->utilisation;
    ++known;
  }
  return known == 0 ? std::nullopt : std::optional(sum / known);
}
bool is_idle(const Evidence& e, std::string_view resource) {
  const auto used = utilisation_of(e, resource);
  return used && *used < kLeastBusy;
}

// Nothing where no pairs of blocks tell.
Probability binds(const std::vector<Slope>& slopes, Place place, bool burns) {
  const Slope* slope = slope_of(slopes, place, burns);
  return slope ? slope->binds() : std::nullopt;
}
// What nobody measured, and was idle, does not bind.
Probability measured_or_idle(const Probability& measured, bool is_idle) {
  return !measured && is_idle ? Probability(0) : measured;
}

Probability either(double one, double other) { return 1 - (1 - one) * (1 - other); }

// A worker that is delayed asks later for its next reads. Where several are in flight, that alone
// costs one part in so many of what it costs a run that waits for the worker: halfway from there.
double worker_threshold(const Evidence& e, const Delayed& d) {
  const bool is_known = slope_of(d.slopes, Place::in_flight, false) != nullptr;
  return is_known ? (1 + 1.0 / e.settings.io_depth) / 2 : 0.5;
}

// Threads that compute all the time are slowed by both kinds of delay: then they are what binds,
// not the CPUs. Where both spend most of their time in the same stage, it does not matter which.
void add_loaders(std::vector<Suspect>& all, const Evidence& e, const Delayed& d) {
  if (!e.settings.workers_can_be_delayed()) return;  // what is left speaks for them
  const auto above = [&](bool burns) {
    const Slope* slope = slope_of(d.slopes, Place::worker, burns);
    return slope ? slope->above(worker_threshold(e, d)) : std::nullopt;
  };
  const Probability slept = measured_or_idle(above(false), is_idle(e, "loader"));
  const Probability alone = above(true);
  const Names of_workers = largest_stages(d.service), of_cpu = of_busy_cpus(e, d.cpu);
  if (!slept || !alone) {
    all.push_back({of_workers, "workers", slept});
    return;
  }
  const double burnt = *alone * (1 - *slept);
  if (of_workers == of_cpu) {
    all.push_back({of_workers, burnt > *slept ? "CPU" : "workers", *slept + burnt});
  } else {
    all.push_back({of_workers, "workers", slept});
    all.push_back({of_cpu, "CPU", burnt});
  }
}

// Workers that limit because they read, and reads in flight that limit, are one answer.
void add_waits_for_reads(std::vector<Suspect>& all, const Evidence& e, const Delayed& d) {
  const Probability its = binds(d.slopes, Place::in_flight, false);
  if (!its && !may_reads_in_flight_limit(e.settings, reads_in_flight_of(e),
                                         share_of_read_waits(d.service, d.cpu)))
    return;
  const Suspect reads{{"read"}, std::string(kReadsInFlight), its};
  const auto same = std::ranges::find(all, reads.names, &Suspect::names);
  if (same == all.end() || !its || !same->binds) {
    all.push_back(reads);
    return;
  }
  if (*its > *same->binds) same->resource = reads.resource;
  same->binds = either(*its, *same->binds);
}

// Whether the copies have as much to do as what binds must have. Not known: they may.
bool are_copies_busy(const Evidence& e) { return !is_idle(e, "link"); }

// An emulated copy holds up the thread that launches the steps, which may be what is short.
bool is_copy_the_threads(const Evidence& e) {
  return !e.settings.has_serial_copies() && e.settings.emulated() && !are_copies_busy(e);
}

// What the device decodes stands in the way of its copies: a delay of the one is one of the other.
Suspect link_of(const Evidence& e, const Delayed& d) {
  const std::string resource = e.settings.decode_on_device ? "decoder" : "link";
  return {{e.settings.decode_on_device ? "decode" : "copy"},
          resource,
          measured_or_idle(binds(d.slopes, Place::copy, false), is_idle(e, resource))};
}

// A device that waits most of the time is not what is waited for, whatever few pairs say.
Suspect device_of(const Evidence& e, const Delayed& d) {
  const bool waits = is_idle(e, "device");
  return {within_the_step(e), "device",
          waits ? Probability(0) : binds(d.slopes, Place::step, false)};
}

// A quota that is used up stops all threads at once. A delay that sleeps then costs what chance
// gives, so that only one that burns tells; the counters say why.
std::optional<Suspect> cpu_quota_of(const Evidence& e, const Delayed& d) {
  const Probability burnt = binds(d.slopes, Place::worker, true);
  if (!e.is_stopped_by_quota() || burnt.value_or(0) < 0.5) return std::nullopt;
  return Suspect{of_busy_cpus(e, d.cpu), "CPU", burnt};
}

// Nothing where one of them was not measured.
Probability none_binds(const std::vector<Suspect>& suspects) {
  double none = 1;
  for (const Suspect& suspect : suspects) {
    if (!suspect.binds) return std::nullopt;
    none *= 1 - *suspect.binds;
  }
  return none;
}

// A burnt step delays the thread that launches the steps. It also slows a run that waits for the
// CPUs, so it counts only as far as nothing else binds. The ceiling launches its steps as well: who
// reaches it is compute-bound.
void add_training_thread(std::vector<Suspect>& all, const Evidence& e, const Delayed& d) {
  const Probability launching = binds(d.slopes, Place::step, true), others = none_binds(all);
  double its = launching && others ? *launching * *others : 0;
  if (is_copy_the_threads(e)) its = std::max(its, binds(d.slopes, Place::copy, false).value_or(0));
  if (its > 0)
    all.push_back(
        {e.is_at_ceiling() ? Names{"compute"} : Names{"harness"}, "training thread", its});
}

// More reads take CPU time. So they slow a run that waits for the CPUs, too.
void add_storage(std::vector<Suspect>& all, const Delayed& d) {
  const Probability storage = binds(d.slopes, Place::storage, false);
  if (!storage) return;
  const double cpu = binds(d.slopes, Place::worker, true).value_or(0);
  all.push_back({{"storage"}, "storage", *storage * (1 - cpu)});
}

}  // namespace

void sort_by_likelihood(std::vector<Suspect>& suspects) {
  std::ranges::stable_sort(suspects, std::greater<>{},
                           [](const Suspect& suspect) { return suspect.binds.value_or(-1); });
}

std::vector<Suspect> suspects_of(const Evidence& e, const Delayed& d) {
  if (const auto quota = cpu_quota_of(e, d)) return {*quota};
  std::vector<Suspect> all;
  add_loaders(all, e, d);
  add_waits_for_reads(all, e, d);
  if (!e.settings.has_serial_copies() && !is_copy_the_threads(e)) all.push_back(link_of(e, d));
  all.push_back(device_of(e, d));
  add_storage(all, d);
  add_training_thread(all, e, d);
  sort_by_likelihood(all);
  return all;
}

Suspect beyond_delays(const std::vector<Suspect>& suspects, const Evidence& e, const Delayed& d) {
  const auto is = [&](Names names, const char* resource) {
    return Suspect{std::move(names), resource, none_binds(suspects), /*is_delayed=*/false,
                   kUnperturbed};
  };
  if (e.is_at_ceiling()) return is({"compute"}, "device");
  const Names stages = largest_stages(d.service);
  const std::string stage = stages.empty() ? "" : stages.front();
  if (!e.settings.workers_can_be_delayed() && !stages.empty()) return is(stages, "workers");
  if (stage == "lock") return is({"lock"}, "library");
  const bool is_asked = binds(d.slopes, Place::storage, false).has_value();
  const bool is_in_memory = !e.rounds.empty() && e.rounds.back().page_cache == "warm";
  if (stage == "read" && !is_asked && !is_in_memory) return is({"storage"}, "storage");
  return is({"harness"}, "harness");
}

}  // namespace feedrate::judge
