#include "ledger/diagnosis_json.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "ledger/record_json.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;
using judge::LadderRung;

Json estimate_json(const measure::Estimate& estimate) {
  Json json = {{"mean", estimate.mean}, {"ci95", nullptr}};
  if (estimate.ci95) json["ci95"] = {estimate.ci95->low, estimate.ci95->high};
  return json;
}

std::size_t runs_of(const std::vector<judge::RoundEvidence>& rounds, LadderRung rung) {
  return static_cast<std::size_t>(
      std::ranges::count_if(rounds, [&](const auto& round) { return round.rates.contains(rung); }));
}

Json ladder_json(const DiagnosisOf& of, const judge::Evidence& e) {
  const std::vector<judge::Round> rounds = e.ladder();
  Json json = Json::array();
  for (std::size_t i = 0; i < judge::kRungs; ++i) {
    const auto rung = static_cast<LadderRung>(i);
    const auto why = of.seen.left_out.find(rung);
    if (const auto rate = judge::rate_of(rounds, rung)) {
      json.push_back({{"rung", judge::name_of(rung)},
                      {"imgs_per_s", estimate_json(*rate)},
                      {"runs", runs_of(e.rounds, rung)}});
      if (why != of.seen.left_out.end()) json.back()["left_out"] = why->second;
      if (e.is_noise(rung)) json.back()["noise"] = true;
    } else if (why != of.seen.left_out.end()) {
      json.push_back({{"rung", judge::name_of(rung)}, {"left_out", why->second}});
    }
  }
  return json;
}

Json waterfall_json(const std::vector<judge::Loss>& losses) {
  Json json = Json::array();
  for (const judge::Loss& loss : losses) {
    json.push_back({{"step", loss.step},
                    {"from", judge::name_of(loss.from)},
                    {"to", judge::name_of(loss.to)},
                    {"lost_imgs_per_s", estimate_json(loss.imgs_per_s)},
                    {"lost_share", estimate_json(loss.share)},
                    {"ms_per_step", estimate_json(loss.ms_per_step)}});
  }
  return json;
}

std::string_view place_name(measure::Place place) {
  return measure::kPlaceNames[static_cast<std::size_t>(place)];
}
const char* kind_of(measure::Place place, bool burns) {
  if (place == measure::Place::storage) return "read";
  if (place == measure::Place::in_flight) return "withhold";
  return burns ? "burn" : "sleep";
}

Json slopes_json(const std::vector<judge::Slope>& slopes) {
  Json json = Json::array();
  for (const judge::Slope& slope : slopes) {
    const bool is_storage = slope.place == measure::Place::storage;
    const bool is_in_flight = slope.place == measure::Place::in_flight;
    const auto binds = slope.binds();
    json.push_back({{"place", place_name(slope.place)},
                    {"kind", kind_of(slope.place, slope.burns)},
                    {"delay_ms", is_storage || is_in_flight ? Json() : Json(slope.delay_ms)},
                    {"extra_reads", is_storage ? Json(slope.extra_reads) : Json()},
                    {"withheld", is_in_flight ? Json(slope.withheld) : Json()},
                    {"pairs", slope.pairs},
                    {"slope", estimate_json(slope.slope)},
                    {"binds", binds ? Json(*binds) : Json()}});
  }
  return json;
}

// Of one sample in one worker; waiting for a CPU is no stage.
Json service_json(const judge::ServiceTimes& wall, const judge::ServiceTimes& cpu) {
  Json json = Json::array();
  for (const auto& part : wall.parts) {
    const auto its = std::ranges::find(cpu.parts, part.name, &judge::ServiceTimes::Part::name);
    json.push_back({{"stage", part.name},
                    {"wall_ms", part.ms},
                    {"cpu_ms", its == cpu.parts.end() ? Json() : Json(its->ms)}});
  }
  return json;
}

Json patterns_json(const std::vector<judge::Pattern>& patterns) {
  Json json = Json::array();
  for (const judge::Pattern& pattern : patterns) {
    json.push_back(
        {{"name", pattern.name}, {"statistic", pattern.statistic}, {"sentence", pattern.sentence}});
  }
  return json;
}

// Null where no search was made.
Json workers_json(const judge::Remedy& remedy) {
  if (remedy.by_workers.empty()) return nullptr;
  Json json = {{"rates", Json::array()}, {"enough", nullptr}, {"enough_ci95", nullptr}};
  for (const auto& [workers, rate] : remedy.by_workers)
    json["rates"].push_back({{"workers", workers}, {"imgs_per_s", estimate_json(rate)}});
  if (const auto enough = remedy.enough_workers()) json["enough"] = *enough;
  if (const auto range = remedy.enough_range())
    json["enough_ci95"] = {range->low, range->high ? Json(*range->high) : Json()};
  return json;
}

Json advice_json(const std::vector<judge::Remedy>& advice) {
  Json json = Json::array();
  for (const judge::Remedy& remedy : advice) {
    json.push_back({{"remedy", remedy.name},
                    {"options", remedy.options()},
                    {"why", remedy.why},
                    {"predicted", estimate_json(remedy.predicted)},
                    {"measured", remedy.measured ? estimate_json(*remedy.measured) : Json()},
                    {"by_workers", workers_json(remedy)},
                    {"not_tried", remedy.not_tried.empty() ? Json() : Json(remedy.not_tried)}});
  }
  return json;
}

// A suspect may be what is left as well: the likelier, which comes first, stands for both.
Json suspects_json(const std::vector<judge::Suspect>& suspects) {
  Json json = Json::array();
  std::set<std::pair<std::string, std::string>> known;
  for (const judge::Suspect& s : suspects) {
    const std::string name = judge::joined(s.names);
    if (!known.emplace(name, s.resource).second) continue;
    json.push_back(
        {{"name", name}, {"resource", s.resource}, {"binds", s.binds ? Json(*s.binds) : Json()}});
  }
  return json;
}

Json verdict_json(const judge::Finding& f) {
  return {{"names", f.names},
          {"resources", f.resources},
          {"clear", f.clear},
          {"confidence", f.confidence ? Json(*f.confidence) : Json()},
          {"suspects", suspects_json(f.suspects)},
          {"sentence", f.sentence},
          {"evidence",
           {{"ladder", f.witness.ladder},
            {"capacities", f.witness.capacities},
            {"slopes", f.witness.slopes}}},
          {"agree", f.witness.agree}};
}

Json pairs_json(const std::vector<judge::BlockPair>& pairs) {
  Json json = Json::array();
  for (const judge::BlockPair& pair : pairs) {
    json.push_back({{"place", place_name(pair.place)},
                    {"kind", kind_of(pair.place, pair.delay.burns)},
                    {"delay_ns", pair.delay.ns},
                    {"extra_reads", pair.delay.reads},
                    {"withheld", pair.delay.withheld},
                    {"on", pair.on},
                    {"off", pair.off}});
  }
  return json;
}

Json undelayed_json(const measure::StageTotals& stages) {
  Json json = Json::object();
  for (std::size_t i = 0; i < measure::kStageCount; ++i) {
    const measure::StageTotal& t = stages.stage[i];
    json[std::string(measure::kStageNames[i])] = {t.wall_ns, t.cpu_ns, t.items, t.bytes};
  }
  json["cpu_wait_ns"] = stages.cpu_wait_ns;
  return json;
}

measure::StageTotals undelayed_from(const Json& json) {
  measure::StageTotals stages{.cpu_wait_ns = json.at("cpu_wait_ns")};
  for (std::size_t i = 0; i < measure::kStageCount; ++i) {
    const Json& t = json.at(std::string(measure::kStageNames[i]));
    stages.stage[i] = {t.at(0), t.at(1), t.at(2), t.at(3)};
  }
  return stages;
}

measure::Place place_from(const Json& name) {
  const auto found = std::ranges::find(measure::kPlaceNames, name.get<std::string>());
  if (found == measure::kPlaceNames.end())
    throw std::invalid_argument(name.get<std::string>() + " is no place");
  return static_cast<measure::Place>(found - measure::kPlaceNames.begin());
}

}  // namespace

Json raised_flags_json(const std::vector<judge::RaisedFlag>& raised) {
  Json json = Json::array();
  for (const auto& [flag, runs] : raised) {
    json.push_back({{"name", flag.name},
                    {"severity", name_of(flag.severity)},
                    {"runs", runs},
                    {"figure", flag.figure},
                    {"reason", flag.reason},
                    {"remedy", flag.remedy}});
  }
  return json;
}

LadderRung rung_from(const std::string& name) {
  const auto found = std::ranges::find(judge::kRungNames, name);
  if (found == judge::kRungNames.end()) throw std::invalid_argument(name + " is no rung");
  return static_cast<LadderRung>(found - judge::kRungNames.begin());
}

Json diagnosis_json(const DiagnosisOf& of, const judge::Evidence& evidence,
                    const judge::Diagnosis& diagnosis) {
  return {
      {"schema", kDiagnosisSchema},
      {"cell", cell_json(of.cell)},
      {"cell_id", of.cell.id()},
      {"label", of.cell.label()},
      {"device", of.device},
      {"emulated", evidence.settings.emulated()},
      {"rounds", evidence.rounds.size()},
      {"interrupted", of.interrupted_of > 0},
      {"seconds", of.seconds},
      {"verdict", verdict_json(diagnosis.finding)},
      {"ladder", ladder_json(of, evidence)},
      {"waterfall", waterfall_json(diagnosis.waterfall)},
      {"slopes", slopes_json(diagnosis.slopes)},
      {"blocks_batch_size", diagnosis.slopes.empty() ? Json() : Json(evidence.batch_of_blocks())},
      {"blocks_failed", of.seen.blocks_failed.empty() ? Json() : Json(of.seen.blocks_failed)},
      {"capacities", capacities_json(evidence.rounds.empty() ? std::vector<judge::Capacity>{}
                                                             : evidence.rounds.back().capacities)},
      {"stages", service_json(diagnosis.service, diagnosis.cpu)},
      {"advice", advice_json(of.advice)},
      {"patterns", patterns_json(of.seen.patterns_of_most())},
      {"runs", of.seen.runs},
      {"flags", raised_flags_json(of.seen.flags)}};
}

Json round_json(const judge::RoundEvidence& round) {
  Json json = {{"rates", Json::object()},
               {"pairs", pairs_json(round.pairs)},
               {"undelayed", nullptr},
               {"capacities", capacities_json(round.capacities)},
               {"step_cpu_s", round.step_cpu_s},
               {"cpus_busy", round.cpus_busy},
               {"all_reduce_share", round.all_reduce_share},
               {"cpu_quota_stopped", round.cpu_quota_stopped},
               {"open_share", round.open_share},
               {"page_cache", round.page_cache}};
  for (const auto& [rung, rate] : round.rates)
    json["rates"][std::string(judge::name_of(rung))] = rate;
  if (const auto& undelayed = round.undelayed) {
    json["undelayed"] = undelayed_json(*undelayed);
  }
  return json;
}

judge::RoundEvidence round_from(const Json& json) {
  judge::RoundEvidence round{.step_cpu_s = json.at("step_cpu_s"),
                             .cpus_busy = json.at("cpus_busy"),
                             .all_reduce_share = json.at("all_reduce_share"),
                             .cpu_quota_stopped = json.value("cpu_quota_stopped", 0.0),
                             .open_share = json.at("open_share"),
                             .page_cache = json.at("page_cache")};
  for (const auto& [rung, rate] : json.at("rates").items()) round.rates[rung_from(rung)] = rate;
  for (const Json& pair : json.at("pairs")) {
    round.pairs.push_back({place_from(pair.at("place")),
                           {pair.at("delay_ns"), pair.at("kind") == "burn", pair.at("extra_reads"),
                            pair.value("withheld", 0.0)},
                           pair.at("on"),
                           pair.at("off")});
  }
  if (const Json& undelayed = json.at("undelayed"); !undelayed.is_null()) {
    round.undelayed = undelayed_from(undelayed);
  }
  round.capacities = capacities_from(json.at("capacities"));
  return round;
}

}  // namespace feedrate::ledger
