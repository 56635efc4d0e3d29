#include "experiment/resume.h"

#include <algorithm>
#include <set>

#include "experiment/record.h"
#include "measure/error.h"

namespace feedrate {
namespace {

using Json = nlohmann::ordered_json;

class Comparison {
 public:
  Comparison(const Ledger& ledger, bool force) : ledger_(ledger), force_(force) {}

  void look(const std::string& what, const Json& then, const Json& now) {
    if (then == now) return;
    if (!force_) {
      throw Error(ledger_.path().string(), "was measured with another " + what + " (" + then.dump() + ", now " + now.dump() + ")",
                  "choose another folder for this: -o DIR; or mix them, flagged: --force-resume");
    }
    if (std::ranges::find(found_, what) == found_.end()) found_.push_back(what);
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  const Ledger& ledger_;
  const bool force_;
  std::vector<std::string> found_;
};

// Of an object within a record: what an older feedrate did not write is not compared.
void look_at_parts(Comparison& comparison, const std::string& object, std::initializer_list<const char*> parts, const Json& record, const Json& now) {
  if (!record.contains(object) || !record[object].is_object() || !now.is_object()) return;
  for (const char* part : parts) {
    if (record[object].contains(part)) comparison.look(object + "." + part, record[object][part], now[part]);
  }
}

// Another machine, storage, GPU, library below or data: what was measured is another thing, not the same by another program.
bool is_other_work(const std::string& what) {
  return what == "host" || what == "gpus" || what.starts_with("device.") || what.starts_with("file_system.") || what.starts_with("dataset ");
}

}  // namespace

std::vector<std::string> differences(const Ledger& ledger, const CellRunner& runner, const Json& environment, const RunOptions& options, const std::set<std::string>& cells,
                                     bool force) {
  Comparison comparison(ledger, force);
  const Json limits = run_limits_json(options.limits);
  for (const Json& record : ledger.records()) {
    const Json& then = record["environment"];
    for (const char* field : {"feedrate_version", "git_commit", "binary_xxh3", "host"}) {
      comparison.look(field, then.contains(field) ? then[field] : Json(nullptr), environment[field]);
    }
    comparison.look("seed", record["seed"], options.seed);
    if (record["status"] == "ok" && cells.contains(record["cell_id"])) {  // what is measured again may be measured otherwise
      look_at_parts(comparison, "limits", {"warmup_seconds", "max_warmup_seconds", "min_seconds", "max_seconds", "min_steps"}, record, limits);
    }
    if (then.contains("gpus")) comparison.look("gpus", then["gpus"], environment["gpus"]);
    if (!record["dataset"].is_object()) continue;
    look_at_parts(comparison, "file_system", {"type", "device"}, then, environment["file_system"]);
    const std::string variant = record["dataset"]["variant"];
    if (const auto manifest = runner.manifest_of(variant)) comparison.look("dataset " + variant, record["dataset"]["manifest_xxh3"], *manifest);
  }
  return comparison.take();
}

std::vector<std::string> device_differences(const std::vector<Json>& records, const Json& record) {
  std::vector<std::string> found;
  for (const char* field : {"name", "software"}) {
    const bool differs = std::ranges::any_of(records, [&](const Json& other) {
      const bool told = other.contains("device") && record.contains("device");
      return told && other["cell"]["device"] == record["cell"]["device"] && other["cell"]["gpus"] == record["cell"]["gpus"] && other["device"].value(field, "") != record["device"].value(field, "");
    });
    if (differs) found.push_back(std::string("device.") + field);
  }
  return found;
}

void flag_forced(Json& record, const std::vector<std::string>& differences) {
  if (differences.empty()) return;
  std::string all;
  bool other_work = false;
  for (const std::string& what : differences) {
    all += (all.empty() ? "" : ", ") + what;
    other_work |= is_other_work(what);
  }
  record["forced"] = differences;
  record["flags"].push_back({{"name", "mixed_ledger"}, {"severity", other_work ? "serious" : "warning"},
                             {"reason", "other records of this ledger were measured with another " + all},
                             {"remedy", "measure the whole sweep anew: -o DIR"}});
  record["valid"] = is_valid(record);
}

}  // namespace feedrate
