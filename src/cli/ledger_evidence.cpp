#include "cli/ledger_evidence.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "cli/diagnosing.h"
#include "plan/where.h"
#include "record/ledger.h"
#include "record/measurement_json.h"
#include "record/record_json.h"
#include "record/rounds_file.h"

namespace feedrate::cli {
namespace {

using Json = nlohmann::ordered_json;
using diagnose::Rung;

bool is_measured(const Json& record) {
  return record.at("status") == "ok" && record.value("place", 0) == 0;
}

// The cells that may be diagnosed, each once.
std::map<std::string, plan::Cell> candidates_of(const std::vector<Json>& records,
                                                const std::vector<std::string>& where) {
  std::map<std::string, plan::Cell> cells;
  for (const Json& record : records) {
    const plan::Cell cell = record::cell_from(record.at("cell"));
    const bool reads = !cell.is("data", "synthetic") && cell.is("cache", "none");
    const bool is_wanted = std::ranges::all_of(
        where, [&](const std::string& text) { return plan::Where(text).holds(cell); });
    if (is_measured(record) && reads && is_wanted) cells.emplace(cell.id(), cell);
  }
  return cells;
}

// A diagnosis measures a cell cold as well, as a rung of the warm one.
void leave_out_cold_rungs(std::map<std::string, plan::Cell>& cells) {
  std::vector<std::string> rungs;
  for (const auto& [id, cell] : cells) {
    if (cell.is("page-cache", "cold")) continue;
    const LadderCells ladder = ladder_of(cell);
    if (const auto cold = ladder.find(Rung::cold); cold != ladder.end())
      rungs.push_back(cold->second.id());
  }
  for (const std::string& id : rungs) cells.erase(id);
}

// `diagnosed`: the id of the cell that the folder's own diagnosis is of; empty: it has none.
plan::Cell only_cell(const std::filesystem::path& file, const std::vector<Json>& records,
                     const std::vector<std::string>& where, const std::string& diagnosed) {
  std::map<std::string, plan::Cell> cells = candidates_of(records, where);
  if (const auto its = cells.find(diagnosed); its != cells.end()) return its->second;
  leave_out_cold_rungs(cells);
  if (cells.size() == 1) return cells.begin()->second;
  if (cells.empty()) {
    throw Error(file.string(), "holds no measured cell of that kind that reads stored data",
                "measure one: `feedrate diagnose --dataset DIR`");
  }
  throw UsageError(file.string(),
                   "holds " + std::to_string(cells.size()) + " cells, such as " +
                       cells.begin()->second.label() + " and " + cells.rbegin()->second.label(),
                   "choose one: --where AXIS=VALUE");
}

double kept_up(const Json& record) {
  const double drawn = record.contains("queue") ? record["queue"].value("drawn_mean", 0.0) : 0.0;
  return record.at("imgs_per_s").get<double>() * (1 - std::max(0.0, drawn));
}

double all_reduce_share(const Json& record) {
  const Json ranks = record.value("ranks", Json::array());
  if (ranks.size() < 2) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Json& rank : ranks) least = std::min(least, rank.at("sync_ms_mean").get<double>());
  return diagnose::all_reduce_share(least, record.at("step_ms").at("mean"),
                                    record.at("device_idle_fraction"));
}

double open_share(const Json& record) {
  const Json io = record.value("io", Json());
  if (!io.is_object() || !io["open_us"].is_object()) return 0;
  const Json opens = io["open_us"]["median"], reads = io["latency_us"]["median"];
  return opens.is_number() && reads.is_number() && reads > 0
             ? opens.get<double>() / reads.get<double>()
             : 0;
}

void read_rungs(const std::vector<Json>& records, const LadderCells& ladder,
                LedgerEvidence& found) {
  std::map<std::string, Rung> rungs;
  for (const auto& [rung, cell] : ladder) rungs[cell.id()] = rung;
  std::map<int, diagnose::RoundEvidence> rounds;  // by repetition
  for (const Json& record : records) {
    const auto rung = rungs.find(record.at("cell_id"));
    if (rung == rungs.end() || !is_measured(record) || !record.value("valid", true)) continue;
    diagnose::RoundEvidence& round = rounds[record.at("repetition")];
    const bool is_own = rung->second == own_rung(found.of.cell);
    add_record(record, rung->second, is_own, round);
    if (!is_own) continue;
    found.of.device = record.at("device").at("name");
    found.evidence.servers.cpus = std::max(1.0, record.at("threads").value("cpu_capacity", 1.0));
    if (const Json dataset = record.value("dataset", Json()); dataset.is_object()) {
      found.surroundings.samples = dataset.value("samples", 0.0);
      found.surroundings.bytes_per_sample = dataset.value("mean_bytes", 0.0);
    }
  }
  for (auto& [repetition, round] : rounds)
    if (round.rates.contains(own_rung(found.of.cell))) found.evidence.rounds.push_back(round);
  for (const auto& [rung, cell] : ladder) {
    const bool is_there = std::ranges::any_of(
        found.evidence.rounds, [&](const auto& round) { return round.rates.contains(rung); });
    if (!is_there) found.of.left_out.emplace(rung, "not in this ledger");
  }
}

}  // namespace

void add_record(const Json& record, Rung rung, bool is_own, diagnose::RoundEvidence& round) {
  round.rates[rung] = kept_up(record);
  if (!is_own) return;
  const run::Measurement m = record::verdict_inputs_from(record);
  round.capacities = record::capacities_from(record.at("capacities"));
  round.undelayed = m.stages;
  round.all_reduce_share = all_reduce_share(record);
  round.open_share = open_share(record);
  const Json dataset = record.value("dataset", Json());
  if (dataset.is_object()) round.page_cache = dataset.value("page_cache", "");
}

LedgerEvidence evidence_from(const std::filesystem::path& folder,
                             const std::vector<std::string>& where) {
  const std::filesystem::path file = folder / "ledger.jsonl";
  const record::LedgerText text = record::read_ledger(file);
  try {
    const auto rounds = record::read_rounds(folder);
    const std::string diagnosed = rounds ? rounds->head.cell_id : "";
    LedgerEvidence found{.of = {.cell = only_cell(file, text.records, where, diagnosed)},
                         .evidence = {},
                         .surroundings = {.takes_engines = false}};
    diagnose::Evidence& e = found.evidence;
    e.settings = plan::settings_of(found.of.cell);
    e.serial_copies = has_serial_copies(e.settings);
    e.servers = servers_of(e.settings);
    read_rungs(text.records, ladder_of(found.of.cell), found);
    if (rounds && rounds->head.cell_id == found.of.cell.id() && !rounds->rounds.empty()) {
      e.rounds = rounds->rounds;
      e.servers = rounds->head.servers;
      found.of.device = rounds->head.device;
      found.of.left_out = rounds->head.seen.left_out;
    }
    if (e.rounds.empty()) {
      throw Error(file.string(), "holds no valid record of " + found.of.cell.label(),
                  "measure it: `feedrate diagnose --dataset DIR`");
    }
    return found;
  } catch (const nlohmann::json::exception& error) {
    throw Error(file.string(),
                std::string("a record lacks what a diagnosis needs: ") + error.what(),
                "`feedrate validate` says which");
  }
}

}  // namespace feedrate::cli
