#include "ledger/plan_file.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/whole_file.h"
#include "ledger/record_json.h"
#include "ledger/resume.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPlanSchema = "feedrate.plan/1";

bool is_plan(const Json& plan) {
  if (!plan.is_object() || !plan.contains("schema") || plan["schema"] != kPlanSchema) return false;
  if (!plan.contains("cells") || !plan["cells"].is_object() || !plan.contains("sweeps") ||
      !plan["sweeps"].is_array())
    return false;
  const auto is_run = [&](const Json& run) {
    return run.is_array() && run.size() == 4 && run[0].is_string() &&
           plan["cells"].contains(run[0].get<std::string>()) && run[1].is_string() &&
           run[2].is_number_integer() && run[3].is_number_integer();
  };
  return std::ranges::all_of(plan["sweeps"], [&](const Json& sweep) {
    return sweep.is_object() && sweep.contains("records") && sweep["records"].is_number_integer() &&
           sweep.contains("runs") && sweep["runs"].is_array() &&
           std::ranges::all_of(sweep["runs"], is_run);
  });
}

// Empty if the file is missing or malformed: a plan holds no results, and the new one replaces it.
Json read_plan(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  Json plan = Json::parse(text.str(), nullptr, false);
  return is_plan(plan)
             ? plan
             : Json{{"schema", kPlanSchema}, {"cells", Json::object()}, {"sweeps", Json::array()}};
}

std::vector<std::string> words_of(const Json& sweep) {
  const Json typed = sweep.value("command", Json());
  const auto is_word = [](const Json& word) { return word.is_string(); };
  if (!typed.is_array() || !std::ranges::all_of(typed, is_word)) return {};
  return typed.get<std::vector<std::string>>();
}

bool lacks_a_run(const Json& sweep, const std::set<RunKey>& done) {
  return std::ranges::any_of(sweep["runs"], [&](const Json& run) {
    return !done.contains({run[0].get<std::string>(), run[2].get<int>(), run[3].get<int>()});
  });
}

void replace(const std::filesystem::path& path, const Json& plan) {
  write_whole_file(path, to_line(plan) + "\n", true);
}

}  // namespace

void keep_plan(const std::filesystem::path& folder, const std::vector<plan::PlannedRun>& plan,
               std::size_t records, const std::vector<std::string>& command) {
  const std::filesystem::path path = folder / "plan.json";
  // An earlier plan is dropped if nothing of it was measured.
  Json kept = read_plan(records == 0 ? std::filesystem::path() : path);
  std::set<std::string> known;
  for (const Json& sweep : kept["sweeps"]) {
    for (const Json& run : sweep["runs"]) known.insert(run.dump());
  }
  Json runs = Json::array();
  for (const plan::PlannedRun& run : plan) {
    Json entry = {run.cell.id(), plan::name_of(run.role), run.repetition,
                  plan::position_of(run.role)};
    if (!known.insert(entry.dump()).second) continue;
    kept["cells"][run.cell.id()] = cell_json(run.cell);
    runs.push_back(std::move(entry));
  }
  const bool ended = kept.erase("ended") > 0;
  if (runs.empty() && !ended) return;
  if (!runs.empty()) {
    Json sweep = {{"records", records}, {"runs", std::move(runs)}};
    if (!command.empty()) sweep["command"] = command;
    kept["sweeps"].push_back(std::move(sweep));
  }
  replace(path, kept);
}

std::vector<std::string> planned_command(const std::filesystem::path& folder,
                                         const std::vector<Json>& records) {
  const Json kept = read_plan(folder / "plan.json");
  const std::set<RunKey> done = runs_done(records);
  std::vector<std::string> last;
  for (std::size_t i = kept["sweeps"].size(); i-- > 0;) {
    const Json& sweep = kept["sweeps"][i];
    std::vector<std::string> words = words_of(sweep);
    if (words.empty()) continue;
    if (lacks_a_run(sweep, done)) return words;
    if (last.empty()) last = std::move(words);
  }
  return last;
}

std::set<std::string> planned_cells(const std::filesystem::path& folder, int repetition) {
  std::set<std::string> ids;
  const Json kept = read_plan(folder / "plan.json");
  for (const Json& sweep : kept["sweeps"]) {
    for (const Json& run : sweep["runs"])
      if (run[1] == plan::name_of(plan::Role::cell) && run[2] == repetition) ids.insert(run[0]);
  }
  return ids;
}

void keep_end(const std::filesystem::path& folder, const SweepEnd& end) {
  Json kept = read_plan(folder / "plan.json");
  kept["ended"] = {{"records", end.records}, {"last_xxh3", end.last_xxh3}, {"whole", end.whole}};
  replace(folder / "plan.json", kept);
}

std::optional<SweepEnd> read_end(const std::filesystem::path& folder) {
  const Json plan = read_plan(folder / "plan.json");
  if (!plan.contains("ended") || !plan["ended"].is_object()) return std::nullopt;
  const Json& end = plan["ended"];
  if (!end.contains("records") || !end["records"].is_number_unsigned() ||
      !end.contains("last_xxh3") || !end["last_xxh3"].is_string())
    return std::nullopt;
  return SweepEnd{end["records"], end["last_xxh3"], end.value("whole", Json(true)) != false};
}

}  // namespace feedrate::ledger
