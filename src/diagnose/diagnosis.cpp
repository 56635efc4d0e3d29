#include "diagnose/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"

namespace feedrate::diagnose {
namespace {

using measure::Place;

constexpr double kSurelyNot = 0.1;       // what is less likely is not named
constexpr double kClear = 0.8;           // the confidence of a clear answer, at least
constexpr double kNothingToGain = 0.98;  // of the ceiling
constexpr double kImpossible = 1.05;     // times the ceiling: that had a worse moment
constexpr double kAbout = 0.8;           // of the largest part: nobody can say that it is smaller

const Slope* find(const std::vector<Slope>& slopes, Place place, bool burns) {
  const auto found = std::ranges::find_if(
      slopes, [&](const Slope& s) { return s.place == place && s.burns == burns; });
  return found == slopes.end() ? nullptr : &*found;
}

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

std::vector<BlockPair> pairs_of(const Evidence& e) {
  std::vector<BlockPair> pairs;
  for (const RoundEvidence& round : e.rounds)
    pairs.insert(pairs.end(), round.pairs.begin(), round.pairs.end());
  return pairs;
}

measure::StageTotals undelayed_stages(const Evidence& e) {
  measure::StageTotals stages;
  for (const RoundEvidence& round : e.rounds)
    if (round.undelayed) stages += *round.undelayed;
  return stages;
}

// Over the rounds that know it; 0 where none does.
double mean_known(const Evidence& e, double RoundEvidence::* value) {
  double sum = 0;
  int known = 0;
  for (const RoundEvidence& round : e.rounds) {
    sum += round.*value;
    known += round.*value > 0 ? 1 : 0;
  }
  return known == 0 ? 0 : sum / known;
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

double mean_rate(const Evidence& e, Rung rung) {
  const auto rate = rate_of(e.ladder(), rung);
  return rate ? rate->mean : 0;
}

bool is_shown(const std::optional<Loss>& loss) {
  return loss && loss->imgs_per_s.mean > 0 &&
         (!loss->imgs_per_s.ci95 || loss->imgs_per_s.ci95->low > 0);
}

double share_of_ceiling(const Evidence& e) {
  const double ceiling = mean_rate(e, Rung::synthetic);
  return ceiling > 0 ? mean_rate(e, e.own_rung()) / ceiling : 0;
}

bool is_at_ceiling(const Evidence& e) { return share_of_ceiling(e) >= kAtCeiling; }

// What makes the device slower than at the ceiling, where it is the device that binds.
Names within_the_step(const Evidence& e) {
  if (e.mean_all_reduce_share() >= 0.5) return {"all-reduce"};
  if (is_at_ceiling(e)) return {"compute"};
  const double images = e.servers.images_per_step;
  const std::vector<Round> rounds = e.ladder();
  std::map<std::string, double> parts;
  const auto add = [&](const char* name, Rung from, Rung to) {
    const auto loss = loss_between(rounds, from, to, images);
    if (is_shown(loss)) parts[name] = loss->imgs_per_s.mean;
  };
  add("normalise", Rung::synthetic, Rung::device);
  if (e.serial_copies) add("copy", Rung::device, Rung::host);
  add("shared CPU", Rung::synthetic, Rung::discard);
  const Names most = largest(parts);
  const double lost = mean_rate(e, Rung::synthetic) - mean_rate(e, e.own_rung());
  if (most.empty() || parts[most.front()] < lost / 3) return {"compute"};
  return most;
}

// A CPU step is slowed by whatever computes. That is no loss as long as the ceiling is reached.
Names of_busy_cpus(const Evidence& e, const ServiceTimes& cpu) {
  const Names most = largest_of_cpu(e, cpu);
  return !most.empty() && most.front() == "shared CPU" && is_at_ceiling(e) ? Names{"compute"}
                                                                           : most;
}

// A place that no pair of blocks tells of may bind, for all that is known.
double binds(const std::vector<Slope>& slopes, Place place, bool burns) {
  const Slope* slope = find(slopes, place, burns);
  return slope ? slope->binds() : 0.5;
}

// DALI's threads are its own.
bool has_no_delayed_workers(const Evidence& e) { return e.settings.loader == "dali"; }

// Threads that compute all the time are slowed by both kinds of delay: then they are what binds,
// not the CPUs. Where both spend most of their time in the same stage, it does not matter which.
void add_loaders(std::vector<Suspect>& all, const Evidence& e, const Diagnosis& d) {
  if (has_no_delayed_workers(e)) return;  // what is left speaks for them
  const double slept = binds(d.slopes, Place::worker, false);
  const bool is_burnt = find(d.slopes, Place::worker, true) != nullptr;
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
  return !e.serial_copies && e.settings.emulated() && !are_copies_busy(e);
}

// What the device decodes stands in the way of its copies: a delay of the one is one of the other.
Suspect link_of(const Evidence& e, const Diagnosis& d) {
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
void add_training_thread(std::vector<Suspect>& all, const Evidence& e, const Diagnosis& d) {
  const Slope* launching = find(d.slopes, Place::step, true);
  double its = launching && launching->degrees > 0 ? launching->binds() * none_binds(all) : 0;
  if (is_copy_the_threads(e)) its = std::max(its, binds(d.slopes, Place::copy, false));
  if (its > 0)
    all.push_back({is_at_ceiling(e) ? Names{"compute"} : Names{"harness"}, "training thread", its});
}

// More reads take CPU time. So they slow a run that waits for the CPUs, too.
void add_storage(std::vector<Suspect>& all, const Diagnosis& d) {
  const Slope* storage = find(d.slopes, Place::storage, false);
  if (!storage) return;
  const Slope* cpu = find(d.slopes, Place::worker, true);
  all.push_back({{"storage"}, "storage", storage->binds() * (cpu ? 1 - cpu->binds() : 1)});
}

std::vector<Suspect> suspects_of(const Evidence& e, const Diagnosis& d) {
  std::vector<Suspect> all;
  add_loaders(all, e, d);
  if (!e.serial_copies && !is_copy_the_threads(e)) all.push_back(link_of(e, d));
  all.push_back({within_the_step(e), "device", binds(d.slopes, Place::step, false)});
  add_storage(all, d);
  add_training_thread(all, e, d);
  std::ranges::stable_sort(all, std::greater<>{}, &Suspect::binds);
  return all;
}

// Where no delay costs anything: what nobody here can delay.
Suspect beyond_delays(const std::vector<Suspect>& suspects, const Evidence& e, const Diagnosis& d) {
  const auto is = [&](const char* name, const char* resource) {
    return Suspect{{name}, resource, none_binds(suspects), /*is_delayed=*/false};
  };
  if (is_at_ceiling(e)) return is("compute", "device");
  const Names stages = largest_stages(d.service);
  const std::string stage = stages.empty() ? "" : stages.front();
  if (has_no_delayed_workers(e) && !stages.empty())
    return {stages, "workers", none_binds(suspects), /*is_delayed=*/false};
  if (stage == "lock") return is("lock", "library");
  const bool is_asked = find(d.slopes, Place::storage, false) != nullptr;
  const bool is_in_memory = !e.rounds.empty() && e.rounds.back().page_cache == "warm";
  if (stage == "read" && !is_asked && !is_in_memory) return is("storage", "storage");
  return is("harness", "harness");
}

void add_name(Finding& finding, const Suspect& suspect) {
  for (const std::string& name : suspect.names)
    if (std::ranges::find(finding.names, name) == finding.names.end())
      finding.names.push_back(name);
  if (std::ranges::find(finding.resources, suspect.resource) == finding.resources.end())
    finding.resources.push_back(suspect.resource);
}

// That those are what the run waits for which are at least as likely as not, and the others not.
double confidence_of(const std::vector<Suspect>& suspects) {
  double all = 1;
  for (const Suspect& suspect : suspects) all *= std::max(suspect.binds, 1 - suspect.binds);
  return all;
}

// Where what is left has the same names as a suspect, the answer is the same whichever it is.
void merge(std::vector<Suspect>& suspects, Suspect& left) {
  for (Suspect& suspect : suspects) {
    if (suspect.names != left.names) continue;
    const double either = std::min(1.0, suspect.binds + left.binds);
    Suspect& likelier = suspect.binds >= left.binds ? suspect : left;
    suspect.binds = left.binds = 0;
    likelier.binds = either;
  }
}

// The likeliest answer, if it is likely enough; else all that may be it. `left`: what it is if it
// is none of the suspects.
Finding finding_of(std::vector<Suspect> suspects, Suspect left) {
  merge(suspects, left);
  Finding finding{.confidence = confidence_of(suspects)};
  finding.clear = *finding.confidence >= kClear;
  suspects.push_back(left);
  std::ranges::stable_sort(suspects, std::greater<>{}, &Suspect::binds);
  const double least = finding.clear ? 0.5 : kSurelyNot;
  for (const Suspect& suspect : suspects)
    if (suspect.binds >= least) add_name(finding, suspect);
  if (!finding.clear && finding.names.size() != 1) finding.confidence.reset();
  finding.suspects = std::move(suspects);
  return finding;
}

// Delays may tell nothing, and yet the ladder tells enough.
void set_compute_bound(Finding& finding) {
  finding.names = {"compute"};
  finding.resources = {"device"};
  finding.clear = true;
  finding.confidence.reset();
}

// What the ladder says by itself: the step down to the cell that costs most.
std::string of_ladder(const Evidence& e, const std::vector<Loss>& losses) {
  const double ceiling = mean_rate(e, Rung::synthetic), own = mean_rate(e, e.own_rung());
  if (ceiling <= 0 || own <= 0) return "";
  if (own / ceiling >= kAtCeiling) return "compute";
  const Loss* most = nullptr;
  for (const Loss& loss : losses) {
    if (!is_shown(loss)) continue;
    if (!most || loss.imgs_per_s.mean > most->imgs_per_s.mean) most = &loss;
  }
  return most ? most->step : "";
}

std::string of_capacities(const Evidence& e) {
  if (e.rounds.empty() || e.rounds.back().capacities.empty()) return "";
  const Capacity& limit = e.rounds.back().capacities.front();
  if (limit.resource == "device") return "compute";
  return limit.largest_stage == kCpuWait ? "shared CPU" : limit.largest_stage;
}

// What a kind of evidence calls a thing that it cannot tell from another: a ladder's ceiling
// averages gradients as well, and no capacity says what a step is made of, or what of a read is the
// storage's.
bool is_meant(const std::string& witness, const std::string& name) {
  if (witness == "compute") return name == "all-reduce" || name == "compute";
  if (witness == "read" || witness == "storage")
    return name == "read" || name == "storage" || name == "lock";
  return witness.find(name) != std::string::npos;  // "decode" by "augment and decode"
}

bool capacity_means(const std::string& witness, const std::string& name) {
  const bool is_in_step = name == "normalise" || name == "copy" || name == "shared CPU";
  return is_meant(witness, name) || (witness == "compute" && is_in_step);
}

void judge(Witness& witness, const std::vector<std::string>& names) {
  const auto any = [&](const std::string& said,
                       bool (*means)(const std::string&, const std::string&)) {
    return said.empty() ||
           std::ranges::any_of(names, [&](const auto& name) { return means(said, name); });
  };
  witness.agree = any(witness.ladder, is_meant) && any(witness.capacities, capacity_means);
}

std::string reached(const Evidence& e) {
  const double ceiling = mean_rate(e, Rung::synthetic), own = mean_rate(e, e.own_rung());
  if (ceiling <= 0 || own <= 0) return "";
  const std::string text =
      format(": %s of %s img/s, %.0f %% of the ceiling", thousands(own).c_str(),
             thousands(ceiling).c_str(), 100 * own / ceiling);
  return own <= kImpossible * ceiling
             ? text
             : text + ", which cannot be: something else slowed the ceiling; measure again";
}

std::string sentence_of(const Evidence& e, const Finding& f) {
  if (f.names.empty()) return "nothing that was measured tells what limits it" + reached(e);
  if (!f.clear && f.names.size() == 1) return "perhaps " + f.names.front() + reached(e);
  if (!f.clear) return "not clear between " + joined(f.names) + reached(e);
  if (f.names.size() > 1) return joined(f.names) + " limit it alike" + reached(e);
  const std::string& name = f.names.front();
  if (name == "compute") return "compute-bound" + reached(e);
  if (name == "harness" && f.resources.front() == "training thread")
    return "the thread that launches the steps limits it" + reached(e);
  if (name == "harness")
    return "the device waits, and no delay tells why: uneven steps, or the program itself" +
           reached(e);
  if (name == "shared CPU") return "the CPU, which loaders and steps share, limits it" + reached(e);
  const std::string of = f.resources.empty() ? "" : " (" + f.resources.front() + ")";
  return name + " limits it" + of + reached(e);
}

// The answer where no blocks could be measured: the two other kinds of evidence. A ladder that
// lacks a rung names two steps, of which the capacities may name one.
Finding without_slopes(const Witness& witness) {
  const std::string &ladder = witness.ladder, &capacities = witness.capacities;
  // A step over several rungs that are missing names half of the pipeline.
  const bool tells = std::ranges::count(ladder, ',') == 0 && std::ranges::count(ladder, ' ') <= 2;
  if (tells && !ladder.empty() && !capacities.empty() && is_meant(ladder, capacities))
    return {.names = {capacities}, .clear = true};
  Finding finding{.clear = false};
  for (const std::string& name : {ladder, capacities})
    if (!name.empty()) finding.names.push_back(name);
  return finding;
}

}  // namespace

bool Finding::nothing_usual_binds() const {
  return !suspects.empty() &&
         (!suspects.front().is_delayed || suspects.front().resource == "training thread");
}

double all_reduce_share(double least_sync_ms, double step_ms, double device_idle_fraction) {
  const double works_ms = step_ms * (1 - device_idle_fraction);
  return works_ms > 0 ? least_sync_ms / works_ms : 0;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

Rung Evidence::own_rung() const { return settings.page_cache == "cold" ? Rung::cold : Rung::none; }

std::vector<Round> Evidence::ladder() const {
  std::vector<Round> all;
  for (const RoundEvidence& round : rounds) all.push_back(round.rates);
  return all;
}

double Evidence::mean_step_cpu_s() const { return mean_known(*this, &RoundEvidence::step_cpu_s); }
double Evidence::mean_cpus_busy() const { return mean_known(*this, &RoundEvidence::cpus_busy); }
double Evidence::mean_open_share() const { return mean_known(*this, &RoundEvidence::open_share); }

double Evidence::mean_all_reduce_share() const {
  double sum = 0;
  for (const RoundEvidence& round : rounds) sum += round.all_reduce_share;
  return rounds.empty() ? 0 : sum / static_cast<double>(rounds.size());
}

Diagnosis diagnosis_of(const Evidence& e) {
  Diagnosis d{.waterfall = waterfall(e.ladder(), e.own_rung(), e.servers.images_per_step),
              .slopes = slopes_of(pairs_of(e), e.servers)};
  const measure::StageTotals stages = undelayed_stages(e);
  d.service = service_times(stages);
  d.cpu = cpu_times(stages);
  const std::string ladder = of_ladder(e, d.waterfall), capacities = of_capacities(e);
  if (d.slopes.empty()) {
    d.finding = without_slopes({ladder, capacities, "", false});
  } else {
    const std::vector<Suspect> suspects = suspects_of(e, d);
    d.finding = finding_of(suspects, beyond_delays(suspects, e, d));
    const double share = share_of_ceiling(e);
    if (!d.finding.clear && share >= kNothingToGain && share <= kImpossible)
      set_compute_bound(d.finding);
  }
  Witness& witness = d.finding.witness;
  witness = {.ladder = ladder, .capacities = capacities};
  if (!d.slopes.empty()) witness.slopes = joined(d.finding.names);
  judge(witness, d.finding.names);
  d.finding.sentence = sentence_of(e, d.finding);
  return d;
}

}  // namespace feedrate::diagnose
