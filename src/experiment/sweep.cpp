#include "experiment/sweep.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "measure/error.h"
#include "pipeline/random.h"

namespace feedrate {
namespace {

// Fisher-Yates by our own generator: the same order everywhere for the same seed.
void shuffle(std::vector<Cell>& cells, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = cells.size(); i > 1; --i) {
    std::swap(cells[i - 1], cells[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
}

using Done = std::set<std::tuple<std::string, int, int>>;  // cell_id, repetition, place

int place_of(const nlohmann::ordered_json& record) { return record.value("place", 0); }

void refuse_other(const Ledger& ledger, const std::string& what, const nlohmann::ordered_json& then,
                  const nlohmann::ordered_json& now) {
  if (then == now) return;
  throw Error(ledger.path().string(), "was measured with another " + what + " (" + then.dump() + ", now " + now.dump() + ")",
              "choose another folder for this: -o DIR");
}

// Records of another program, machine or seed would make one ledger out of two experiments.
void check_same(const nlohmann::ordered_json& record, const nlohmann::ordered_json& environment,
                const RunOptions& options, const Ledger& ledger) {
  for (const char* field : {"feedrate_version", "git_commit", "binary_xxh3", "host"}) {
    refuse_other(ledger, field, record["environment"][field], environment[field]);
  }
  refuse_other(ledger, "seed", record["seed"], options.seed);
}

// The same cell measured on other data.
void check_same_data(const nlohmann::ordered_json& record, const CellRunner& runner, const Ledger& ledger) {
  if (!record["dataset"].is_object()) return;
  const std::string variant = record["dataset"]["variant"];
  if (const auto manifest = runner.manifest_of(variant)) {
    refuse_other(ledger, "dataset " + variant, record["dataset"]["manifest_xxh3"], *manifest);
  }
}

// The synthetic rates measured so far, by the setting that they are the ceiling of.
class Ceilings {
 public:
  void add(const nlohmann::ordered_json& record) {
    if (record["cell"]["data"] != "synthetic" || record["status"] != "ok") return;
    rates_[record["cell_id"]].push_back(record["imgs_per_s"]);
  }
  // Mean of the ceiling's runs, images/s; nothing before the first.
  std::optional<double> of(const Cell& cell) const {
    const auto found = rates_.find(ceiling_of(cell).id());
    if (found == rates_.end()) return std::nullopt;
    double sum = 0;
    for (const double rate : found->second) sum += rate;
    return sum / static_cast<double>(found->second.size());
  }

 private:
  std::map<std::string, std::vector<double>> rates_;
};

}  // namespace

std::vector<PlannedRun> plan_sweep(const std::vector<Cell>& cells, int repetitions, std::uint64_t seed) {
  std::vector<Cell> ceilings;
  for (const Cell& cell : cells) {
    const Cell ceiling = ceiling_of(cell);
    if (std::find(ceilings.begin(), ceilings.end(), ceiling) == ceilings.end()) ceilings.push_back(ceiling);
  }
  std::vector<PlannedRun> plan;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t c = 0; c < ceilings.size(); ++c) {
      std::vector<Cell> real;
      for (const Cell& cell : cells) {
        if (!cell.is("data", "synthetic") && ceiling_of(cell) == ceilings[c]) real.push_back(cell);
      }
      shuffle(real, mix64(seed, static_cast<std::uint64_t>(repetition) * ceilings.size() + c));
      plan.push_back({ceilings[c], "ceiling", repetition, 0});
      for (Cell& cell : real) plan.push_back({std::move(cell), "cell", repetition, 0});
      if (!real.empty()) plan.push_back({ceilings[c], "ceiling", repetition, 1});
    }
  }
  return plan;
}

SweepOutcome run_sweep(const std::vector<PlannedRun>& plan, CellRunner& runner, const RunOptions& options,
                       Ledger& ledger, const nlohmann::ordered_json& environment, const SweepHooks& hooks,
                       std::stop_token stop) {
  Done done;
  Ceilings ceilings;
  for (const auto& record : ledger.records()) {
    check_same(record, environment, options, ledger);
    check_same_data(record, runner, ledger);
    ceilings.add(record);
    if (record["status"] == "ok") done.insert({record["cell_id"], record["repetition"], place_of(record)});
  }
  SweepOutcome outcome;
  for (std::size_t i = 0; i < plan.size() && !outcome.interrupted; ++i) {
    const PlannedRun& run = plan[i];
    if (done.contains({run.cell.id(), run.repetition, run.place})) {
      ++outcome.skipped;
      continue;
    }
    const auto ceiling = ceilings.of(run.cell);
    hooks.started(run, i + 1, plan.size(), ceiling);
    const CellResult result = runner.run(run.cell, hooks.progress, stop);
    const auto order = static_cast<int>(ledger.records().size() + outcome.ok + outcome.failed);
    auto record = make_record(result, {run.role, run.repetition, order, ceiling}, options, environment);
    record["place"] = run.place;
    hooks.derive(record);
    ledger.append(record);
    hooks.finished(record);
    ceilings.add(record);
    outcome.interrupted = result.status == Status::interrupted;
    if (!outcome.interrupted) ++(result.status == Status::ok ? outcome.ok : outcome.failed);
  }
  return outcome;
}

}  // namespace feedrate
