#include "session/ledger_evidence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "ledger/ledger.h"
#include "ledger/record_json.h"
#include "ledger/recorded_measurement.h"
#include "ledger/rounds_file.h"
#include "plan/axes.h"
#include "plan/where.h"
#include "session/delay_plan.h"
#include "session/ladder_cells.h"
#include "session/run_evidence.h"
#include "session/told_flags.h"

namespace feedrate::session {
namespace {

using Json = nlohmann::ordered_json;
using judge::LadderRung;

// Alone: one of several jobs, or of a search for GPUs, is no repetition.
bool is_measured(const Json& record) {
  return record.at("status") == "ok" && record.value("place", 0) == 0 && !record.contains("jobs") &&
         !record.contains("search");
}

// The cells that may be diagnosed, each once.
std::map<std::string, plan::Cell> candidates_of(const std::vector<Json>& records,
                                                const std::vector<std::string>& where) {
  std::map<std::string, plan::Cell> cells;
  for (const Json& record : records) {
    const plan::Cell cell = ledger::cell_from(record.at("cell"));
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
    if (const auto cold = ladder.find(LadderRung::cold); cold != ladder.end())
      rungs.push_back(cold->second.id());
  }
  for (const std::string& id : rungs) cells.erase(id);
}

// "device and workers": the axes of which these cells have several values.
std::string differing_axes(const std::map<std::string, plan::Cell>& cells) {
  std::vector<std::string> names;
  for (const plan::Axis& axis : plan::axes()) {
    const auto is_first = [&](const auto& cell) {
      return cell.second[axis.name] == cells.begin()->second[axis.name];
    };
    if (!std::ranges::all_of(cells, is_first)) names.emplace_back(axis.name);
  }
  return judge::joined(names);
}

// `diagnosed`: the id of the cell that the folder's own diagnosis is of; empty: it has none.
plan::Cell only_cell(const std::filesystem::path& file, const std::vector<Json>& records,
                     const std::vector<std::string>& where, const std::string& diagnosed) {
  std::map<std::string, plan::Cell> cells = candidates_of(records, where);
  if (const auto its = cells.find(diagnosed); its != cells.end()) return its->second;
  leave_out_cold_rungs(cells);
  if (cells.size() == 1) return cells.begin()->second;
  if (cells.empty()) {
    throw Error(file.string(),
                "holds no cell of that kind that was measured by itself and reads stored data",
                "measure one: `feedrate diagnose --dataset DIR`");
  }
  throw UsageError(
      file.string(),
      "holds " + std::to_string(cells.size()) + " cells, which differ in " + differing_axes(cells),
      "choose one: --where AXIS=VALUE");
}

std::string why_left_out(const std::vector<Json>& records, const plan::Cell& cell) {
  for (const Json& record : records)
    if (record.at("cell_id") == cell.id() && is_measured(record) && !record.value("valid", true))
      return "what this ledger has of it must not be quoted: " +
             judge::serious_names(ledger::flags_from(record));
  return "not in this ledger";
}

// Of a round's runs. Of one that was measured again the last record counts, as for its rate.
using FlagsOfRuns = std::map<LadderRung, std::vector<judge::Flag>>;

void read_rungs(const std::vector<Json>& records, const LadderCells& ladder,
                LedgerEvidence& found) {
  std::map<std::string, LadderRung> rungs;
  for (const auto& [rung, cell] : ladder) rungs[cell.id()] = rung;
  std::map<int, judge::RoundEvidence> rounds;  // by repetition
  std::map<int, FlagsOfRuns> flags;            // the same
  for (const Json& record : records) {
    const auto rung = rungs.find(record.at("cell_id"));
    if (rung == rungs.end() || !is_measured(record) || !record.value("valid", true)) continue;
    judge::RoundEvidence& round = rounds[record.at("repetition")];
    flags[record.at("repetition")][rung->second] = ledger::flags_from(record);
    const bool is_own = rung->second == own_rung(found.of.cell);
    const run::Measurement m = ledger::measurement_from(record);
    add_run(m, rung->second, round);
    if (!is_own) continue;
    add_own_run(found.evidence.settings, m, ledger::capacities_from(record.at("capacities")),
                round);
    found.of.device = m.device.name;
    found.evidence.servers.cpus = usable_cpus(m);
    if (const Json dataset = record.value("dataset", Json()); dataset.is_object()) {
      found.surroundings.samples = dataset.value("samples", 0.0);
      found.surroundings.bytes_per_sample = dataset.value("mean_bytes", 0.0);
    }
  }
  for (auto& [repetition, round] : rounds) {
    if (!round.rates.contains(own_rung(found.of.cell))) continue;
    found.evidence.rounds.push_back(round);
    for (const auto& [rung, of_run] : flags[repetition])
      add_told_flags(of_run, name_of(rung), found.of.seen);
  }
  for (const auto& [rung, cell] : ladder) {
    const bool is_there = std::ranges::any_of(
        found.evidence.rounds, [&](const auto& round) { return round.rates.contains(rung); });
    if (!is_there) found.of.seen.left_out.emplace(rung, why_left_out(records, cell));
  }
}

}  // namespace

LedgerEvidence evidence_from(const std::filesystem::path& folder,
                             const std::vector<std::string>& where) {
  const std::filesystem::path file = folder / "ledger.jsonl";
  ledger::LedgerText text = ledger::read_ledger(file);
  try {
    const auto rounds = ledger::read_rounds(folder);
    const std::string diagnosed = rounds ? rounds->head.cell_id : "";
    LedgerEvidence found{.of = {.cell = only_cell(file, text.records, where, diagnosed)},
                         .evidence = {},
                         .surroundings = {.takes_engines = false},
                         .records = {}};
    judge::Evidence& e = found.evidence;
    e.settings = plan::settings_of(found.of.cell);
    e.servers = servers_of(e.settings);
    read_rungs(text.records, ladder_of(found.of.cell), found);
    if (rounds && rounds->head.cell_id == found.of.cell.id() && !rounds->rounds.empty()) {
      e.rounds = rounds->rounds;
      e.servers = rounds->head.servers;
      found.of.device = rounds->head.device;
      found.of.seen = rounds->head.seen;
    }
    if (e.rounds.empty()) {
      throw Error(file.string(), "holds no valid record of " + found.of.cell.label(),
                  "measure it: `feedrate diagnose --dataset DIR`");
    }
    found.records = std::move(text.records);
    return found;
  } catch (const nlohmann::json::exception& error) {
    throw Error(file.string(),
                std::string("a record lacks what a diagnosis needs: ") + error.what(),
                "`feedrate validate` says which");
  }
}

}  // namespace feedrate::session
