#include "judge/suspects.h"

#include <algorithm>
#include <map>
#include <utility>

namespace feedrate::judge {
namespace {

using measure::Place;

constexpr double kAbout = 0.8;  // of the largest part: nobody can say that it is smaller

using Names = std::vector<std::string>;

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
  const double images = e.servers.images_per_step;
  const std::vector<Round> rounds = e.ladder();
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

// A place that no pair of blocks tells of may bind, for all that is known.
double binds(const std::vector<Slope>& slopes, Place place, bool burns) {
  const Slope* slope = slope_of(slopes, place, burns);
  return slope ? slope->binds() : 0.5;
}

// Threads that compute all the time are slowed by both kinds of delay: then they are what binds,
// not the CPUs. Where both spend most of their time in the same stage, it does not matter which.
void add_loaders(std::vector<Suspect>& all, const Evidence& e, const Delayed& d) {
  if (!e.settings.workers_can_be_delayed()) return;  // what is left speaks for them
  const double slept = binds(d.slopes, Place::worker, false);
  const bool is_burnt = slope_of(d.slopes, Place::worker, true) != nullptr;
  const double burnt = is_burnt ? binds(d.slopes, Place::worker, true) * (1 - slept) : 0;
  const Names of_workers = largest_stages(d.service), of_cpu = of_busy_cpus(e, d.cpu);
  if (of_workers == of_cpu) {
    all.push_back({of_workers, burnt > slept ? "CPU" : "workers", slept + burnt});
  } else {
    all.push_back({of_workers, "workers", slept});
    if (is_burnt) all.push_back({of_cpu, "CPU", burnt});
  }
}

// Whether the copies have as much to do as what binds must have. Not known: they may.
bool are_copies_busy(const Evidence& e) {
  constexpr double kLeast = 0.5;
  double sum = 0;
  int known = 0;
  for (const RoundEvidence& round : e.rounds) {
    const auto link = std::ranges::find(round.capacities, "link", &Capacity::resource);
    if (link == round.capacities.end()) continue;
    sum += link->utilisation;
    ++known;
  }
  return known == 0 || sum >= kLeast * known;
}

// An emulated copy holds up the thread that launches the steps, which may be what is short.
bool is_copy_the_threads(const Evidence& e) {
  return !e.settings.has_serial_copies() && e.settings.emulated() && !are_copies_busy(e);
}

// What the device decodes stands in the way of its copies: a delay of the one is one of the other.
Suspect link_of(const Evidence& e, const Delayed& d) {
  const double its = binds(d.slopes, Place::copy, false);
  return e.settings.decode_on_device ? Suspect{{"decode"}, "decoder", its}
                                     : Suspect{{"copy"}, "link", its};
}

double none_binds(const std::vector<Suspect>& suspects) {
  double none = 1;
  for (const Suspect& suspect : suspects) none *= 1 - suspect.binds;
  return none;
}

// A burnt step delays the thread that launches the steps. It also slows a run that waits for the
// CPUs, so it counts only as far as nothing else binds. The ceiling launches its steps as well: who
// reaches it is compute-bound.
void add_training_thread(std::vector<Suspect>& all, const Evidence& e, const Delayed& d) {
  const Slope* launching = slope_of(d.slopes, Place::step, true);
  double its = launching && launching->degrees > 0 ? launching->binds() * none_binds(all) : 0;
  if (is_copy_the_threads(e)) its = std::max(its, binds(d.slopes, Place::copy, false));
  if (its > 0)
    all.push_back(
        {e.is_at_ceiling() ? Names{"compute"} : Names{"harness"}, "training thread", its});
}

// More reads take CPU time. So they slow a run that waits for the CPUs, too.
void add_storage(std::vector<Suspect>& all, const Delayed& d) {
  const Slope* storage = slope_of(d.slopes, Place::storage, false);
  if (!storage) return;
  const Slope* cpu = slope_of(d.slopes, Place::worker, true);
  all.push_back({{"storage"}, "storage", storage->binds() * (cpu ? 1 - cpu->binds() : 1)});
}

}  // namespace

std::vector<Suspect> suspects_of(const Evidence& e, const Delayed& d) {
  std::vector<Suspect> all;
  add_loaders(all, e, d);
  if (!e.settings.has_serial_copies() && !is_copy_the_threads(e)) all.push_back(link_of(e, d));
  all.push_back({within_the_step(e), "device", binds(d.slopes, Place::step, false)});
  add_storage(all, d);
  add_training_thread(all, e, d);
  std::ranges::stable_sort(all, std::greater<>{}, &Suspect::binds);
  return all;
}

Suspect beyond_delays(const std::vector<Suspect>& suspects, const Evidence& e, const Delayed& d) {
  const auto is = [&](const char* name, const char* resource) {
    return Suspect{{name}, resource, none_binds(suspects), /*is_delayed=*/false};
  };
  if (e.is_at_ceiling()) return is("compute", "device");
  const Names stages = largest_stages(d.service);
  const std::string stage = stages.empty() ? "" : stages.front();
  if (!e.settings.workers_can_be_delayed() && !stages.empty())
    return {stages, "workers", none_binds(suspects), /*is_delayed=*/false};
  if (stage == "lock") return is("lock", "library");
  const bool is_asked = slope_of(d.slopes, Place::storage, false) != nullptr;
  const bool is_in_memory = !e.rounds.empty() && e.rounds.back().page_cache == "warm";
  if (stage == "read" && !is_asked && !is_in_memory) return is("storage", "storage");
  return is("harness", "harness");
}

}  // namespace feedrate::judge
