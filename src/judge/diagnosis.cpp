#include "judge/diagnosis.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

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

// What is left of an answer beside a ceiling that cannot be true.
void set_doubtful(Finding& finding) {
  finding.clear = false;
  finding.confidence.reset();
}

std::string reached(const Evidence& e) {
  const double ceiling = e.mean_rate(LadderRung::synthetic), own = e.mean_rate(e.own_rung());
  if (ceiling <= 0 || own <= 0) return "";
  const std::string text =
      format(": %s of %s img/s, %.0f %% of the ceiling", thousands(own).c_str(),
             thousands(ceiling).c_str(), 100 * own / ceiling);
  return e.is_impossible()
             ? text + ", which cannot be: something else slowed the ceiling; measure again"
             : text;
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
// lacks a rung names two steps, of which the capacities may name one. Fewer rounds than an interval
// needs make nothing clear.
Finding without_slopes(const Evidence& e, const Witness& witness) {
  const std::string &ladder = witness.ladder, &capacities = witness.capacities;
  // A step over several rungs that are missing names half of the pipeline.
  const bool tells = std::ranges::count(ladder, ',') == 0 && std::ranges::count(ladder, ' ') <= 2;
  if (tells && !ladder.empty() && !capacities.empty() && is_meant(ladder, capacities))
    return {.names = {capacities}, .clear = e.rounds.size() >= measure::kLeastRepetitions};
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
              waterfall(e.ladder(), e.own_rung(), e.servers.images_per_step),
              {}};
  Witness witness = witness_of(e, d.waterfall);
  if (d.slopes.empty()) {
    d.finding = without_slopes(e, witness);
  } else {
    const std::vector<Suspect> suspects = suspects_of(e, d);
    d.finding = finding_of(suspects, beyond_delays(suspects, e, d));
    const double share = e.share_of_ceiling();
    if (!d.finding.clear && share >= kNothingToGain && !e.is_impossible()) {
      set_compute_bound(d.finding);
    } else {
      witness.slopes = joined(d.finding.names);
    }
  }
  if (e.is_impossible()) set_doubtful(d.finding);
  judge(witness, d.finding.names);
  d.finding.witness = witness;
  d.finding.sentence = sentence_of(e, d.finding);
  return d;
}

}  // namespace feedrate::judge
