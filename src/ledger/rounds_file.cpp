#include "ledger/rounds_file.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/whole_file.h"
#include "ledger/diagnosis_json.h"
#include "ledger/ledger.h"
#include "ledger/record_json.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "feedrate.rounds/1";

Json seen_json(const SeenInRounds& seen) {
  Json json = {{"rounds", seen.rounds}, {"patterns", Json::array()}, {"left_out", Json::object()}};
  for (const auto& [name, pattern] : seen.patterns) {
    json["patterns"].push_back({{"name", name},
                                {"rounds", pattern.rounds},
                                {"statistic", pattern.last.statistic},
                                {"sentence", pattern.last.sentence}});
  }
  for (const auto& [rung, why] : seen.left_out)
    json["left_out"][std::string(judge::name_of(rung))] = why;
  json["runs"] = seen.runs;
  json["flags"] = raised_flags_json(seen.flags);
  json["blocks_failed"] = seen.blocks_failed;
  return json;
}

// Files of before say nothing of how severe a flag is.
judge::RaisedFlag flag_from(const Json& json) {
  const std::string name = json.at("name");
  return {
      {.name = name,
       .severity =
           judge::severity_named(json.value("severity", "")).value_or(judge::usual_severity(name)),
       .reason = json.at("reason"),
       .remedy = json.at("remedy"),
       .figure = json.value("figure", 0.0)},
      json.at("runs")};
}

SeenInRounds seen_from(const Json& json) {
  SeenInRounds seen{.rounds = json.at("rounds")};
  for (const Json& p : json.at("patterns")) {
    const std::string name = p.at("name");
    seen.patterns[name] = {p.at("rounds"), {name, p.at("statistic"), p.at("sentence")}};
  }
  for (const auto& [rung, why] : json.at("left_out").items()) seen.left_out[rung_from(rung)] = why;
  seen.runs = json.at("runs");
  for (const Json& flag : json.at("flags")) seen.flags.push_back(flag_from(flag));
  seen.blocks_failed = json.value("blocks_failed", "");
  return seen;
}

Json head_json(const RoundsHead& head) {
  return {{"schema", kSchema},
          {"cell_id", head.cell_id},
          {"device", head.device},
          {"planted", head.planted},
          {"budget_s", head.budget_s},
          {"seconds", head.seconds},
          {"rounds", head.plan.rounds},
          {"pairs", head.plan.pairs},
          {"block_s", head.plan.blocks.seconds},
          {"block_steps", head.plan.blocks.least_steps},
          {"block_run_s", head.plan.block_run_s},
          {"batch_size", head.plan.batch_size},
          {"workers", head.servers.workers},
          {"cpus", head.servers.cpus},
          {"images_per_step", head.servers.images_per_step},
          {"seen", seen_json(head.seen)}};
}

RoundsHead head_from(const Json& json) {
  if (json.at("schema") != kSchema) throw std::invalid_argument("its schema is unknown");
  return {.cell_id = json.at("cell_id"),
          .device = json.at("device"),
          .planted = json.at("planted"),
          .budget_s = json.at("budget_s"),
          .seconds = json.at("seconds"),
          .plan = {.rounds = json.at("rounds"),
                   .pairs = json.at("pairs"),
                   .blocks = {.blocks = {},
                              .seconds = json.at("block_s"),
                              .least_steps = json.at("block_steps")},
                   .block_run_s = json.at("block_run_s"),
                   .batch_size = json.value("batch_size", 0)},
          .servers = {json.at("workers"), json.at("cpus"), json.at("images_per_step")},
          .seen = seen_from(json.at("seen"))};
}

}  // namespace

std::vector<judge::Pattern> SeenInRounds::patterns_of_most() const {
  std::vector<judge::Pattern> most;
  for (const auto& [name, seen] : patterns)
    if (2 * seen.rounds > rounds) most.push_back(seen.last);
  return most;
}

std::optional<Rounds> read_rounds(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kRoundsFile;
  if (!std::filesystem::exists(file)) return std::nullopt;
  const std::string text = read_whole_text(file);
  std::optional<Rounds> found;
  std::size_t number = 0;
  for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos;
       from = to + 1) {
    const std::string line = text.substr(from, to - from);
    ++number;
    try {
      if (nests_too_deep(line)) throw std::invalid_argument("it nests too deep");
      const Json json = Json::parse(line);
      if (!found) {
        found = Rounds{head_from(json), {}};
      } else {
        found->rounds.push_back(round_from(json));
      }
    } catch (const std::exception& error) {
      throw Error(file.string() + ", line " + std::to_string(number),
                  std::string("is no round of a diagnosis: ") + error.what(),
                  "begin anew in another folder: -o DIR");
    }
  }
  return found;
}

void write_rounds(const std::filesystem::path& folder, const Rounds& rounds) {
  std::string text = to_line(head_json(rounds.head)) + "\n";
  for (const judge::RoundEvidence& round : rounds.rounds) text += to_line(round_json(round)) + "\n";
  write_whole_file(folder / kRoundsFile, text, /*durable=*/true);
}

}  // namespace feedrate::ledger
