#include "experiment/plan_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "measure/error.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPlanSchema = "feedrate.plan/1";

bool is_plan(const Json& plan) {
  if (!plan.is_object() || !plan.contains("schema") || plan["schema"] != kPlanSchema) return false;
  if (!plan.contains("cells") || !plan["cells"].is_object() || !plan.contains("sweeps") || !plan["sweeps"].is_array()) return false;
  const auto is_run = [&](const Json& run) {
    return run.is_array() && run.size() == 4 && run[0].is_string() && plan["cells"].contains(run[0].get<std::string>()) && run[1].is_string() &&
           run[2].is_number_integer() && run[3].is_number_integer();
  };
  return std::ranges::all_of(plan["sweeps"], [&](const Json& sweep) {
    return sweep.is_object() && sweep.contains("records") && sweep["records"].is_number_integer() && sweep.contains("runs") &&
           sweep["runs"].is_array() && std::ranges::all_of(sweep["runs"], is_run);
  });
}

// What is no plan is none: it holds no result, and the new one replaces it.
Json read_plan(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  Json plan = Json::parse(text.str(), nullptr, false);
  return is_plan(plan) ? plan : Json{{"schema", kPlanSchema}, {"cells", Json::object()}, {"sweeps", Json::array()}};
}

// One write, one fsync, one rename.
void replace(const std::filesystem::path& path, const std::string& text) {
  const std::string partial = path.string() + ".partial";
  const int fd = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) throw Error(partial, std::strerror(errno), "choose a folder that you can write: -o DIR");
  errno = 0;
  const bool whole = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  const std::string reason = errno == 0 ? "the disk is full" : std::strerror(errno);
  close(fd);
  std::error_code failed;
  if (whole) std::filesystem::rename(partial, path, failed);
  if (!whole || failed) {
    unlink(partial.c_str());
    throw Error(path.string(), whole ? failed.message() : reason, "free some space, or choose another folder: -o DIR");
  }
}

}  // namespace

void keep_plan(const std::filesystem::path& folder, const std::vector<PlannedRun>& plan, std::size_t records) {
  const std::filesystem::path path = folder / "plan.json";
  // Of an empty ledger nothing was ever come to: an earlier plan of its folder has been given up.
  Json kept = read_plan(records == 0 ? std::filesystem::path() : path);
  std::set<std::string> known;
  for (const Json& sweep : kept["sweeps"]) {
    for (const Json& run : sweep["runs"]) known.insert(run.dump());
  }
  Json runs = Json::array();
  for (const PlannedRun& run : plan) {
    Json entry = {run.cell.id(), run.role, run.repetition, run.place};
    if (!known.insert(entry.dump()).second) continue;
    kept["cells"][run.cell.id()] = run.cell.to_json();
    runs.push_back(std::move(entry));
  }
  const bool ended = kept.erase("ended") > 0;
  if (runs.empty() && !ended) return;
  if (!runs.empty()) kept["sweeps"].push_back({{"records", records}, {"runs", std::move(runs)}});
  replace(path, kept.dump() + "\n");
}

void keep_end(const std::filesystem::path& folder, const SweepEnd& end) {
  Json kept = read_plan(folder / "plan.json");
  kept["ended"] = {{"records", end.records}, {"last_xxh3", end.last_xxh3}};
  replace(folder / "plan.json", kept.dump() + "\n");
}

std::optional<SweepEnd> read_end(const std::filesystem::path& folder) {
  const Json plan = read_plan(folder / "plan.json");
  if (!plan.contains("ended") || !plan["ended"].is_object()) return std::nullopt;
  const Json& end = plan["ended"];
  if (!end.contains("records") || !end["records"].is_number_unsigned() ||
      !end.contains("last_xxh3") || !end["last_xxh3"].is_string())
    return std::nullopt;
  return SweepEnd{end["records"], end["last_xxh3"]};
}

}  // namespace feedrate
