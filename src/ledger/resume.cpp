#include "ledger/resume.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "judge/flags.h"
#include "ledger/record.h"
#include "ledger/record_json.h"
#include "plan/axes.h"
#include "plan/expand.h"

namespace feedrate::ledger {
namespace {

using Json = nlohmann::ordered_json;

class Comparison {
 public:
  Comparison(const Ledger& ledger, std::optional<bool> force) : ledger_(ledger), force_(force) {}

  void look(const std::string& what, const Json& then, const Json& now) {
    if (then == now) return;
    if (!force_.value_or(false)) {
      throw Error(
          ledger_.path().string(),
          "was measured with another " + what + " (" + then.dump() + ", now " + now.dump() + ")",
          std::string("choose another folder for this: -o DIR") +
              (force_ ? "; or mix them, flagged: --force-resume" : ""));
    }
    if (std::ranges::find(found_, what) == found_.end()) found_.push_back(what);
  }
  // Parts of an object: those that an older feedrate did not write are not compared.
  void look_at_parts(const std::string& object, std::initializer_list<const char*> parts,
                     const Json& record, const Json& now) {
    if (!record.contains(object) || !record[object].is_object() || !now.is_object()) return;
    for (const char* part : parts) {
      if (record[object].contains(part)) look(object + "." + part, record[object][part], now[part]);
    }
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  const Ledger& ledger_;
  const std::optional<bool> force_;
  std::vector<std::string> found_;
};

// Whether another run would find this flag again.
bool is_permanent(const Json& flag) {
  return std::ranges::any_of(judge::flag_rules(), [&](const judge::FlagRule& rule) {
    return rule.is_permanent && flag["name"] == rule.name();
  });
}

bool need_not_be_measured_again(const Json& record) {
  if (record["status"] != "ok") return false;
  if (record.value("valid", true)) return true;
  const Json flags = record.value("flags", Json::array());
  return !flags.empty() && std::ranges::all_of(flags, [](const Json& flag) {
    return flag["severity"] != name_of(judge::Severity::serious) || is_permanent(flag);
  });
}

bool is_of_kind(const Json& record, const run::CellResult& result) {
  const auto device = result.cell.recorded(plan::axis_named("device"));
  return record.contains("device") && device && record["cell"]["device"] == *device &&
         record["cell"]["gpus"] == result.settings.gpus;
}

void refuse_what_is_whole(const Ledger& ledger, const Json& record) {
  for (const auto& [part, command] : {std::pair("jobs", "jobs"), std::pair("search", "capacity")}) {
    if (!record.contains(part)) continue;
    throw Error(ledger.path().string(),
                "holds runs of `feedrate " + std::string(command) + "`, which nothing adds to",
                "choose another folder: -o DIR");
  }
}

}  // namespace

std::set<RunKey> runs_done(const std::vector<Json>& records) {
  std::set<RunKey> done;
  for (const Json& record : records) {
    if (need_not_be_measured_again(record))
      done.insert({record["cell_id"], record["repetition"], record.value("place", 0)});
  }
  return done;
}

std::vector<plan::PlannedRun> missing_of(std::vector<plan::PlannedRun> plan,
                                         const std::vector<Json>& records) {
  const std::set<RunKey> measured = runs_done(records);
  const auto is_done = [&](const plan::PlannedRun& run) {
    return measured.contains({run.cell.id(), run.repetition, plan::position_of(run.role)});
  };
  // The ceiling, and the repetition, of runs that share it.
  const auto block_of = [](const plan::PlannedRun& run) {
    return std::pair(plan::ceiling_of(run.cell).id(), run.repetition);
  };
  using Blocks = std::set<std::pair<std::string, int>>;
  Blocks lacking, without_opening, closed;
  for (const plan::PlannedRun& run : plan) {
    if (run.in_pairs) continue;  // its ceiling is its own
    const bool done = is_done(run);
    if (!done) lacking.insert(block_of(run));
    if (!done && run.role == plan::Role::opening_ceiling) without_opening.insert(block_of(run));
    if (done && run.role == plan::Role::closing_ceiling) closed.insert(block_of(run));
  }
  std::erase_if(plan, [&](const plan::PlannedRun& run) {
    const auto block = block_of(run);
    const bool is_ceiling = run.role != plan::Role::cell;
    const bool needed_again =
        !run.in_pairs && (without_opening.contains(block) ||
                          (is_ceiling && lacking.contains(block) && closed.contains(block)));
    return is_done(run) && !needed_again;
  });
  return plan;
}

std::vector<std::string> differences(const Ledger& ledger, const run::CellRunner& runner,
                                     const Json& environment, const run::RunOptions& options,
                                     const std::set<std::string>& cells,
                                     std::optional<bool> force) {
  Comparison comparison(ledger, force);
  const Json limits = limits_json(options.limits);
  for (const Json& record : ledger.records()) {
    refuse_what_is_whole(ledger, record);
    const Json& then = record["environment"];
    for (const char* field : {"feedrate_version", "git_commit", "binary_xxh3", "host"}) {
      comparison.look(field, then.contains(field) ? then[field] : Json(nullptr),
                      environment[field]);
    }
    comparison.look_at_parts("cpu", {"model", "affinity", "quota", "governor", "smt", "turbo_off"},
                             then, environment["cpu"]);
    if (then.contains("kernel")) comparison.look("kernel", then["kernel"], environment["kernel"]);
    comparison.look("seed", record["seed"], options.seed);
    // A run that failed is measured again, and then may have other limits.
    if (record["status"] == "ok" && cells.contains(record["cell_id"])) {
      comparison.look_at_parts(
          "limits",
          {"warmup_seconds", "max_warmup_seconds", "min_seconds", "max_seconds", "min_steps"},
          record, limits);
    }
    if (then.contains("gpus")) comparison.look("gpus", then["gpus"], environment["gpus"]);
    if (!record["dataset"].is_object()) continue;
    comparison.look_at_parts("file_system", {"type", "device"}, then, environment["file_system"]);
    const std::string variant = record["dataset"]["variant"];
    if (const auto manifest = runner.manifest_of(variant))
      comparison.look("dataset " + variant, record["dataset"]["manifest_xxh3"], *manifest);
  }
  return comparison.take();
}

std::vector<std::string> device_differences(const std::vector<Json>& records,
                                            const run::CellResult& result) {
  if (!result.measurement) return {};
  const device::DeviceDescription& device = result.measurement->device;
  std::vector<std::string> found;
  for (const auto& [field, now] :
       {std::pair("name", &device.name), std::pair("software", &device.software)}) {
    const bool differs = std::ranges::any_of(records, [&, field = field, now = now](const Json& r) {
      return is_of_kind(r, result) && r["device"].value(field, "") != *now;
    });
    if (differs) found.push_back(std::string("device.") + field);
  }
  // The same cell, with another way of making its step.
  const Json stands_for = stands_for_json(result);
  if (std::ranges::any_of(records, [&](const Json& r) {
        return r.value("cell_id", "") == result.cell.id() && r.value("status", "") == "ok" &&
               r.value("stands_for", Json::object()) != stands_for;
      }))
    found.push_back("device.stands_for");
  return found;
}

}  // namespace feedrate::ledger
