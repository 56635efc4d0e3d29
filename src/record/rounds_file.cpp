#include "record/rounds_file.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/whole_file.h"
#include "record/diagnosis_json.h"
#include "record/ledger.h"

namespace feedrate::record {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "feedrate.rounds/1";

Json head_json(const RoundsHead& head) {
  return {{"schema", kSchema},
          {"cell_id", head.cell_id},
          {"device", head.device},
          {"rounds", head.plan.rounds},
          {"pairs", head.plan.pairs},
          {"block_s", head.plan.blocks.seconds},
          {"block_steps", head.plan.blocks.least_steps},
          {"block_run_s", head.plan.block_run_s},
          {"workers", head.servers.workers},
          {"cpus", head.servers.cpus},
          {"images_per_step", head.servers.images_per_step}};
}

RoundsHead head_from(const Json& json) {
  if (json.at("schema") != kSchema) throw std::invalid_argument("its schema is unknown");
  return {.cell_id = json.at("cell_id"),
          .device = json.at("device"),
          .plan = {.rounds = json.at("rounds"),
                   .pairs = json.at("pairs"),
                   .blocks = {.blocks = {},
                              .seconds = json.at("block_s"),
                              .least_steps = json.at("block_steps")},
                   .block_run_s = json.at("block_run_s")},
          .servers = {json.at("workers"), json.at("cpus"), json.at("images_per_step")}};
}

}  // namespace

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
  std::string text = head_json(rounds.head).dump() + "\n";
  for (const diagnose::RoundEvidence& round : rounds.rounds)
    text += round_json(round).dump() + "\n";
  write_whole_file(folder / kRoundsFile, text, /*durable=*/true);
}

}  // namespace feedrate::record
