#include "judge/diagnosis.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "judge/reads_in_flight.h"

namespace feedrate::judge {
namespace {

constexpr double kSurelyNot = 0.1;       // what is less likely is not named
constexpr double kClear = 0.8;           // the confidence of a clear answer, at least
constexpr double kNothingToGain = 0.98;  // of the ceiling

void add_name(Finding& finding, const Suspect& suspect) {
  for (const std::string& name : suspect.names)
    if (std::ranges::find(finding.names, name) == finding.names.end())
      finding.names.push_back(name);
  if (std::ranges::find(finding.resources, suspect.resource) == finding.resources.end())
    finding.resources.push_back(suspect.resource);
}

// That those are what the run waits for which are at least as likely as not, and the others not.
// Nothing where one of them was not measured.
std::optional<double> confidence_of(const std::vector<Suspect>& suspects) {
  double all = 1;
  for (const Suspect& suspect : suspects) {
    if (!suspect.binds) return std::nullopt;
    all *= std::max(*suspect.binds, 1 - *suspect.binds);
  }
  return all;
}

// Where what is left has the same names as a suspect, the answer is the same whichever it is. No
// delay tells of what is left: together they are no surer than the suspect alone, or kUnperturbed.
void merge(std::vector<Suspect>& suspects, Suspect& left) {
  for (Suspect& suspect : suspects) {
    if (suspect.names != left.names || !suspect.binds || left.binds.value_or(0) <= 0) continue;
    const double either = std::min(1.0, *suspect.binds + *left.binds);
    const double most = std::max(kUnperturbed, *suspect.binds);
    Suspect& likelier = *suspect.binds >= *left.binds ? suspect : left;
    suspect.binds = left.binds = 0;
    likelier.binds = either;
    likelier.most = most;
  }
}

bool is_named(const Finding& finding, const Suspect& suspect) {
  return std::ranges::all_of(suspect.names, [&](const std::string& name) {
    return std::ranges::find(finding.names, name) != finding.names.end();
  });
}

// The likeliest answer, if it is likely enough; else all that may be it, and those of which nothing
// is known. `left`: the answer where it is none of the suspects.
Finding finding_of(std::vector<Suspect> suspects, Suspect left) {
  merge(suspects, left);
  Finding finding{.confidence = confidence_of(suspects)};
  finding.clear = finding.confidence >= kClear;
  suspects.push_back(left);
  sort_by_likelihood(suspects);
  const double least = finding.clear ? 0.5 : kSurelyNot;
  for (const Suspect& suspect : suspects)
    if (suspect.binds ? *suspect.binds >= least : suspect.is_delayed) add_name(finding, suspect);
  if (!finding.clear && finding.names.size() != 1) finding.confidence.reset();
  for (Suspect& suspect : suspects) {
    if (suspect.binds) suspect.binds = std::min(*suspect.binds, suspect.most);
    if (finding.confidence && suspect.binds.value_or(0) > 0 && is_named(finding, suspect))
      finding.confidence = std::min(*finding.confidence, suspect.most);
  }
  finding.suspects = std::move(suspects);
  return finding;
}

// Delays may tell nothing, and yet the ladder tells enough. Averaging gradients is part of the
// ceiling, too.
void set_compute_bound(Finding& finding, const std::vector<Suspect>& suspects) {
  const auto device = std::ranges::find(suspects, "device", &Suspect::resource);
  const bool is_known = device != suspects.end();
  finding.names = is_known ? device->names : std::vector<std::string>{"compute"};
  finding.resources = {"device"};
  finding.clear = true;
  finding.confidence.reset();
}

// What is left of an answer beside a ceiling that cannot be true.
void set_doubtful(Finding& finding) {
  finding.clear = false;
  finding.confidence.reset();
}

// "59", "99.6": below 1 never rounded up to it.
std::string percents(double share) {
  const double value = 100 * share;
  return value > 99 && value < 100 ? format("%.1f", std::min(value, 99.9)) : format("%.0f", value);
}

// " (95 %: 57 to 61)" around the share of the ceiling, within each round.
std::string interval_text(const Evidence& e) {
  std::vector<double> shares;
  for (const RoundEvidence& round : e.rounds) {
    const auto ceiling = round.rates.find(LadderRung::synthetic),
               own = round.rates.find(e.own_rung());
    if (ceiling != round.rates.end() && own != round.rates.end())
      shares.push_back(own->second / ceiling->second);
  }
  const auto ci95 = shares.empty() ? std::nullopt : measure::estimate_of_rates(shares).ci95;
  if (!ci95) return format(" (no interval below %zu rounds)", measure::kLeastRepetitions);
  return " (95 %: " + percents(ci95->low) + " to " + percents(ci95->high) + ")";
}

std::string reached(const Evidence& e) {
  const double ceiling = e.mean_rate(LadderRung::synthetic), own = e.mean_rate(e.own_rung());
  if (ceiling <= 0 || own <= 0) return "";
  const std::string text = ": " + thousands(own) + " of " + thousands(ceiling) + " img/s, " +
                           percents(own / ceiling) + " % of the ceiling";
  return text + (e.is_impossible()
                     ? ", which cannot be: something else slowed the ceiling; measure again"
                     : interval_text(e));
}

// " (workers)"; of reads, how many are in flight, where that is known.
std::string resource_text(const Evidence& e, const Finding& f) {
  const std::string resource = f.resources.empty() ? "" : f.resources.front();
  const bool is_of_workers = resource == "workers" || resource.empty();
  const auto reads = f.names.front() == "read" ? reads_in_flight_of(e) : std::nullopt;
  if (!reads || !(is_of_workers || resource == kReadsInFlight))
    return resource.empty() ? "" : " (" + resource + ")";
  return " (" + std::string(resource == "workers" ? "workers; " : "") + in_words(*reads) + ")";
}

std::string quota_text(const Finding& f) {
  const bool is_of_steps = f.names.front() == "shared CPU";
  return "the CPU quota limits it; most of its CPU time goes into " +
         (is_of_steps ? "what computes beside the loaders" : joined(f.names));
}

// What an answer rests on for which no delay speaks; empty: one does, or nobody asks for one, as
// there is nothing to gain.
std::string basis_text(const Finding& f) {
  if (f.suspects.empty()) return ", by the ladder and the capacities alone";
  const auto is_left = [&](const Suspect& s) {
    return !s.is_delayed && s.binds.value_or(0) >= 0.5 && is_named(f, s);
  };
  return std::ranges::any_of(f.suspects, is_left) ? ", by elimination" : "";
}

std::string sentence_of(const Evidence& e, const Finding& f) {
  if (f.names.empty()) return "nothing that was measured tells what limits it" + reached(e);
  if (!f.clear && f.names.size() > 1) return "not clear between " + joined(f.names) + reached(e);
  const std::string& name = f.names.front();
  if (!f.clear) return "perhaps " + name + (name == "read" ? resource_text(e, f) : "") + reached(e);
  const bool is_of_cpu = !f.resources.empty() && f.resources.front() == "CPU";
  if (is_of_cpu && e.is_stopped_by_quota()) return quota_text(f) + reached(e);
  const std::string basis = basis_text(f), likely = basis.empty() ? "" : "likely ";
  if (f.names.size() > 1)
    return joined(f.names) + " " + likely + "limit it alike" + basis + reached(e);
  if (name == "compute" && e.share_of_ceiling() >= kNothingToGain)
    return "compute-bound" + reached(e);
  if (name == "compute") return likely + "compute-bound" + basis + reached(e);
  if (name == "harness" && f.resources.front() == "training thread")
    return "the thread that launches the steps limits it" + reached(e);
  if (name == "harness")
    return "the device waits, and no delay tells why: uneven steps, or the program itself" +
           reached(e);
  if (name == "shared CPU")
    return "the CPU, which loaders and steps share, " + likely + "limits it" + basis + reached(e);
  return name + " " + likely + "limits it" + resource_text(e, f) + basis + reached(e);
}

// What the ladder and the capacities both name; empty: nothing. A ladder that lacks a rung names
// two steps, of which the capacities may name one.
std::string named_by_both(const Witness& witness) {
  const std::string &ladder = witness.ladder, &capacities = witness.capacities;
  // A step over several rungs that are missing names half of the pipeline.
  const bool tells = std::ranges::count(ladder, ',') == 0 && std::ranges::count(ladder, ' ') <= 2;
  const bool are_one =
      tells && !ladder.empty() && !capacities.empty() && is_meant(ladder, capacities);
  return are_one ? capacities : "";
}

// That they wait for reads makes these the resource, whatever else is not known.
std::vector<std::string> resources_by_both(const Evidence& e, const Delayed& d,
                                           const std::string& name) {
  constexpr double kMost = 0.5;
  const bool waits = name == "read" && reads_in_flight_of(e).has_value() &&
                     share_of_read_waits(d.service, d.cpu) >= kMost;
  return waits ? std::vector<std::string>{std::string(kReadsInFlight)} : std::vector<std::string>{};
}

// The answer where no delay was measured: the two other kinds of evidence. Fewer rounds than an
// interval needs make nothing clear.
Finding without_slopes(const Evidence& e, const Delayed& d, const Witness& witness) {
  if (const std::string both = named_by_both(witness); !both.empty()) {
    return {.names = {both},
            .resources = resources_by_both(e, d, both),
            .clear = e.rounds.size() >= measure::kLeastRepetitions};
  }
  Finding finding{.clear = false};
  for (const std::string& name : {witness.ladder, witness.capacities})
    if (!name.empty()) finding.names.push_back(name);
  return finding;
}

// Whether the delays leave the answer to what is left, or to what nobody measured.
bool rests_on_no_delay(const Finding& f) {
  const auto speaks = [&](const Suspect& s) {
    return s.is_delayed && s.binds && *s.binds >= 0.5 && is_named(f, s);
  };
  return std::ranges::none_of(f.suspects, speaks);
}

// Elimination never outvotes two kinds of evidence that agree: nothing was delayed that could have
// told of what they name. Nor do suspects that nobody measured stand beside it. False: it stays.
bool let_both_outvote(Finding& f, const Evidence& e, const Delayed& d, const Witness& witness) {
  const std::string both = named_by_both(witness);
  const auto is_meant_by_one = [&](const std::string& name) {
    return is_meant(witness.ladder, name) || is_meant(witness.capacities, name);
  };
  const bool is_by_elimination = std::ranges::any_of(f.suspects, [&](const Suspect& s) {
    return !s.is_delayed && is_named(f, s) && s.binds.value_or(0) > 0 &&
           std::ranges::none_of(s.names, is_meant_by_one);
  });
  const bool is_open =
      std::ranges::any_of(f.suspects, [](const Suspect& s) { return s.is_delayed && !s.binds; });
  if (both.empty() || !rests_on_no_delay(f) || !(is_by_elimination || is_open)) return false;
  f.names = {both};
  f.resources = resources_by_both(e, d, both);
  f.clear = false;
  f.confidence.reset();
  for (Suspect& suspect : f.suspects)
    if (!suspect.is_delayed) suspect.binds.reset();
  return true;
}

// The names that a delay, or that none tells, speaks for.
std::string named_by_slopes(const Finding& f) {
  std::vector<std::string> names;
  for (const std::string& name : f.names) {
    const auto is_its = [&](const Suspect& s) {
      return s.binds && std::ranges::find(s.names, name) != s.names.end();
    };
    if (std::ranges::any_of(f.suspects, is_its)) names.push_back(name);
  }
  return joined(names);
}

bool are_measured(const std::vector<Slope>& slopes) {
  return std::ranges::any_of(slopes, [](const Slope& slope) { return slope.binds().has_value(); });
}

}  // namespace

bool Finding::nothing_usual_binds() const {
  return !suspects.empty() &&
         (!suspects.front().is_delayed || suspects.front().resource == "training thread");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

Diagnosis diagnosis_of(const Evidence& e) {
  const measure::StageTotals stages = e.undelayed();
  Diagnosis d{{.slopes = slopes_of(e.pairs(), e.servers),
               .service = service_times(stages),
               .cpu = cpu_times(stages)},
              waterfall(e.sound_ladder(), e.own_rung(), e.images_per_step()),
              {}};
  Witness witness = witness_of(e, d.waterfall);
  if (!are_measured(d.slopes)) {
    d.finding = without_slopes(e, d, witness);
  } else {
    const std::vector<Suspect> suspects = suspects_of(e, d);
    d.finding = finding_of(suspects, beyond_delays(suspects, e, d));
    const double share = e.share_of_ceiling();
    if (!d.finding.clear && share >= kNothingToGain && !e.is_impossible()) {
      set_compute_bound(d.finding, suspects);
    } else {
      if (!let_both_outvote(d.finding, e, d, witness)) witness.slopes = named_by_slopes(d.finding);
    }
  }
  if (e.is_impossible()) set_doubtful(d.finding);
  judge(witness, d.finding.names);
  // What is not clear between several is nothing that three could agree on.
  witness.agree = witness.agree && (d.finding.clear || d.finding.names.size() < 2);
  d.finding.witness = witness;
  d.finding.sentence = sentence_of(e, d.finding);
  return d;
}

}  // namespace feedrate::judge
