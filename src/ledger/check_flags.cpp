#include "ledger/check_flags.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "device/step_trace.h"
#include "ledger/record_json.h"
#include "ledger/recorded_measurement.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;
using judge::Severity;

// Rules that rest on what no record keeps: how the warm-up ended, planted times, how much a
// diagnosis keeps, what NVML said.
constexpr std::string_view kUnrecorded[] = {"unsteady.warmup", "unsteady.window", "short_warmup",
                                            "planted",         "cached_part",     "gpu_unseen",
                                            "scaled_rate"};

// The most severe one of each name.
using Severities = std::map<std::string, std::optional<Severity>>;

void add(Severities& all, const std::string& name, std::optional<Severity> severity) {
  auto& most = all[name];
  most = std::max(most, severity);
}

std::optional<Severity> severity_named(const Json& name) {
  for (const Severity severity : {Severity::note, Severity::warning, Severity::serious}) {
    if (name == name_of(severity)) return severity;
  }
  return std::nullopt;
}

constexpr std::string_view kHarnessBound = "harness_bound";

bool replays_steps(const plan::CellSettings& settings) {
  return settings.emulated() && device::is_trace(settings.device_argument);
}

Severities derived(const Json& record, const plan::CellSettings& settings, int nudge) {
  const RecordedFacts recorded = facts_from(record, settings, nudge);
  judge::FlagFacts facts = recorded.facts();
  std::vector<judge::FlagRule> rules(judge::flag_rules().begin(), judge::flag_rules().end());
  if (replays_steps(settings))
    std::erase_if(rules, [](const auto& rule) { return rule.id == kHarnessBound; });
  Severities found;
  for (const judge::Flag& flag : judge::flags_of(facts, rules))
    add(found, flag.name, flag.severity);
  return found;
}

// "" where the stated severity is one that the rounded numbers allow.
std::string difference(const std::string& name, std::optional<Severity> stated,
                       const std::set<std::optional<Severity>>& allowed) {
  if (allowed.contains(stated)) return "";
  if (!stated) return "the flag " + name + " is missing: the record's own numbers call for it";
  const std::string is = "the flag " + name + " is " + std::string(name_of(*stated));
  if (const auto due = *allowed.rbegin())
    return is + ", the record's own numbers make it " + std::string(name_of(*due));
  return "the flag " + name + " is there, and the record's own numbers do not call for it";
}

// A ceiling of its own record is another record's. A recording's steps are those of a file that may
// be elsewhere, or a trap: whether the program was the limit then, and so what its ceiling in pairs
// is worth, is not looked at.
bool is_recorded(const judge::FlagRule& rule, const Json& record,
                 const plan::CellSettings& settings) {
  const bool in_pairs = record.contains("pairs"), replays = replays_steps(settings);
  if (rule.id == "ceiling_unfit" || rule.id == "ceiling_drifted") return in_pairs && !replays;
  if (rule.id == "ceiling_exceeded") return !in_pairs || !replays;
  if (rule.id == kHarnessBound && replays) return false;
  return std::ranges::count(kUnrecorded, rule.id) == 0;
}

// The rules of one name.
struct Named {
  bool is_recorded = true;  // all of them
  std::set<Severity> severities;
};
std::map<std::string, Named> names_of_rules(const Json& record,
                                            const plan::CellSettings& settings) {
  std::map<std::string, Named> all;
  for (const judge::FlagRule& rule : judge::flag_rules()) {
    Named& named = all[std::string(rule.name())];
    named.is_recorded = named.is_recorded && is_recorded(rule, record, settings);
    named.severities.insert(rule.severity);
    if (rule.serious) named.severities.insert(Severity::serious);
  }
  return all;
}

// Adds to `stated` what the record says, and returns what no record can say.
std::vector<std::string> read_stated(const Json& record, const std::map<std::string, Named>& names,
                                     Severities& stated) {
  std::vector<std::string> found;
  for (const Json& flag : record.at("flags")) {
    const std::string name = flag.at("name");
    const auto severity = severity_named(flag.at("severity"));
    const auto named = names.find(name);
    if (named == names.end())
      found.push_back("the flag " + name + " is none that there is");
    else if (!severity ||
             (!named->second.is_recorded && !named->second.severities.contains(*severity)))
      found.push_back("the flag " + name + " is " + flag.at("severity").dump() +
                      ", which it never is");
    else
      add(stated, name, severity);
  }
  return found;
}

}  // namespace

judge::FlagFacts RecordedFacts::facts() const {
  return {.result = result,
          .options = options,
          .opening_imgs_per_s = std::nullopt,
          .ceiling = ceiling,
          .first_page_cache = first_page_cache,
          .differences = differences,
          .overlap = overlap};
}

RecordedFacts facts_from(const Json& record, const plan::CellSettings& settings, int nudge) {
  RecordedFacts recorded{.result = {.settings = settings, .status = run::Status::ok},
                         .options = {.limits = limits_from(record.at("limits"))},
                         .ceiling = ceiling_from(record),
                         .first_page_cache = first_page_cache_from(record),
                         .differences = record.value("forced", std::vector<std::string>{})};
  recorded.result.measurement = measurement_from(record, nudge);
  if (const Json& dataset = record.at("dataset"); dataset.is_object()) {
    auto variant = std::make_shared<storage::DatasetVariant>();
    variant->total_bytes = dataset.value("bytes", std::uint64_t{0});
    variant->made = dataset.value("made", variant->made);
    recorded.result.dataset = variant;
  }
  const Json jobs = record.value("jobs", Json::object());
  if (const Json overlap = jobs.value("overlap", Json()); !overlap.is_null())
    recorded.overlap = overlap;
  return recorded;
}

std::vector<std::string> flag_problems(const Json& record, const plan::CellSettings& settings) {
  const std::map<std::string, Named> names = names_of_rules(record, settings);
  Severities stated;
  std::vector<std::string> found = read_stated(record, names, stated);
  const Severities due[] = {derived(record, settings, -1), derived(record, settings, 0),
                            derived(record, settings, 1)};
  for (const auto& [name, named] : names) {
    if (!named.is_recorded) continue;
    const auto in = [&](const Severities& all) {
      const auto at = all.find(name);
      return at == all.end() ? std::nullopt : at->second;
    };
    const std::string words = difference(name, in(stated), {in(due[0]), in(due[1]), in(due[2])});
    if (!words.empty()) found.push_back(words);
  }
  return found;
}

}  // namespace feedrate::ledger
